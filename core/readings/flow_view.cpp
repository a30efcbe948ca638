#include "core/readings/flow_view.h"

#include <algorithm>
#include <utility>

#include "core/base/blocking.h"
#include "core/chance/even_pairs.h"
#include "core/readings/load_chance.h"
#include "core/readings/selected_view.h"
#include "core/readings/session_lookup.h"

namespace stormcell {
namespace {

BranchPairs pairs_of(const PairTable& table, int64_t most) {
  BranchPairs pairs;
  pairs.rows = table.rows, pairs.columns = table.columns;
  pairs.pairs = std::ssize(table.entries);
  for (const PairCount& p : table.entries) {
    pairs.total += p.count;
    pairs.entries.push_back({p.from, p.to, p.count});
  }
  std::stable_sort(pairs.entries.begin(), pairs.entries.end(),
                   [](const auto& a, const auto& b) { return a.count > b.count; });
  if (most >= 0 && pairs.pairs > most) pairs.entries.resize(most);
  return pairs;
}

/// Marks the pairs that chance does not explain.
void mark_beyond(const PairsBesideChance& judged, BranchPairs& pairs) {
  using Places = std::vector<std::pair<int32_t, int32_t>>;
  const auto places_of = [](const std::vector<PairBeyondChance>& called) {
    Places places;
    for (const PairBeyondChance& pair : called) places.emplace_back(pair.from, pair.to);
    std::sort(places.begin(), places.end());
    return places;
  };
  const Places beyond = places_of(judged.beyond), rarer = places_of(judged.rarer);
  for (BranchPairs::Entry& e : pairs.entries) {
    const std::pair place(e.from, e.to);
    e.beyond = std::binary_search(beyond.begin(), beyond.end(), place);
    e.rarer = std::binary_search(rarer.begin(), rarer.end(), place);
  }
  for (const PairBeyondChance& pair : judged.rarer)
    if (pair.cells == 0) pairs.absent.push_back({pair.from, pair.to, 0, false, true});
  pairs.judged = true;
}

/// The same for the pairs that are kept alone: those of all edges of a large model would take seconds.
void mark_entries(const TransitionJudge& judge, BranchPairs& pairs) {
  for (BranchPairs::Entry& e : pairs.entries) {
    const PairSide side = judge.side({e.from, e.to, e.count});
    e.beyond = side == PairSide::more_often, e.rarer = side == PairSide::more_rarely;
  }
  pairs.judged = true;
}

/// `pairs(range)` over all ranges together.
template <class Pairs>
PairTable sum_ranges(const std::vector<BatchRange>& ranges, Pairs pairs) {
  if (ranges.size() == 1) return pairs(ranges[0]);
  PairTable sum = pairs(BatchRange{0, 0});
  for (const BatchRange& range : ranges) sum.add(pairs(range));
  return sum;
}

/// The router in focus, and the next one: indexes, -1: none.
void find_focus(const FlowFocus& focus, RoutingFlow& flow) {
  const auto has_pairs = [](const FlowRouter& r) { return !r.next.empty() || r.line.fan_out > 1; };
  const int32_t count = flow.routers.size();
  const auto at = [&](int32_t r) -> const FlowRouter& { return flow.routers[r]; };
  for (int32_t r = 0; r < count && flow.router < 0; ++r)
    if (at(r).line.name == focus.router) flow.router = r;
  if (flow.router >= 0 && !has_pairs(at(flow.router))) {
    const int32_t last = flow.router;
    for (int32_t r = 0; r < count && flow.router == last; ++r)
      for (const FlowEdge& e : at(r).next)
        if (e.to == last) flow.router = r, flow.next = last;
  }
  for (int32_t r = 0; r < count && flow.router < 0; ++r)
    if (has_pairs(at(r))) flow.router = r;
  if (flow.router < 0 || flow.next >= 0 || at(flow.router).next.empty()) return;
  flow.next = at(flow.router).next.front().to;
  for (const FlowEdge& e : at(flow.router).next)
    if (at(e.to).line.name == focus.next) flow.next = e.to;
}

}  // namespace

std::shared_ptr<const RoutingFlow> read_routing_flow(const std::string& file, int64_t run, BatchRange range,
                                                     const FlowFocus& focus, int64_t most_pairs,
                                                     const Progress& progress, const std::string& phase) {
  may_block("read_routing_flow");
  const OpenedRun opened(file, run);
  const auto& [reader, summary, layout] = opened;
  auto flow = std::make_shared<RoutingFlow>();
  flow->run = summary.id;
  flow->batches = summary.batches;
  range = opened.within(range);
  flow->first_batch = range.first;
  flow->end_batch = range.end;
  const auto ranges = phase.empty() ? std::vector<std::vector<BatchRange>>(layout.spaces.size(), {range})
                                    : batches_of_phase(reader, summary.id, phase, range, progress);
  for (const RouterInfo& info : layout.routers) flow->routers.push_back({line_of(layout, info), {}});
  // Edges are ordered by the router that they lead to; those of one router come out in the order of the next ones.
  for (const LayoutEdge& e : layout.edges) flow->routers[e.from].next.push_back({e.to, !e.branches.empty(), {}});
  find_focus(focus, *flow);
  for (size_t r = 0; r < flow->routers.size(); ++r) {
    progress.report("reading transitions", static_cast<int64_t>(r), std::ssize(flow->routers));
    const int32_t router = r;
    const std::vector<BatchRange>& ranges_of = ranges[layout.routers[r].space];
    for (FlowEdge& e : flow->routers[r].next) {
      const PairTable table = sum_ranges(ranges_of, [&, &reader = reader, &summary = summary](BatchRange batches) {
        return reader.transitions(summary.id, router, e.to, batches);
      });
      const int32_t next_k = flow->routers[e.to].line.fan_out;
      const int64_t verdicts = chance_questions(layout) * std::ssize(layout.edges);
      if (router == flow->router && e.to == flow->next) {
        flow->transitions = pairs_of(table, -1);
        mark_beyond(transitions_beside_chance(table, next_k, verdicts), flow->transitions);
      }
      e.pairs = pairs_of(table, most_pairs);
      mark_entries(TransitionJudge(table, next_k, verdicts), e.pairs);
    }
    if (const int32_t k = flow->routers[r].line.fan_out; router == flow->router && k > 1) {
      const PairTable table = sum_ranges(ranges_of, [&, &reader = reader, &summary = summary](BatchRange batches) {
        return reader.coactivation(summary.id, router, batches);
      });
      flow->together = pairs_of(table, -1);
      mark_beyond(coactivation_beside_chance(table, k, chance_questions(layout) * std::ssize(layout.routers)),
                  flow->together);
    }
  }
  return flow;
}

}  // namespace stormcell
