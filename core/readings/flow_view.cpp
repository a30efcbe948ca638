#include "core/readings/flow_view.h"

#include <algorithm>

#include "core/base/blocking.h"
#include "core/readings/selected_view.h"
#include "core/readings/session_lookup.h"

namespace stormcell {
namespace {

BranchPairs pairs_of(const PairTable& table, int64_t most) {
  BranchPairs pairs;
  pairs.rows = table.rows, pairs.columns = table.columns;
  pairs.pairs = static_cast<int64_t>(table.entries.size());
  for (const PairCount& p : table.entries) {
    pairs.total += p.count;
    pairs.entries.push_back({p.from, p.to, p.count});
  }
  std::stable_sort(pairs.entries.begin(), pairs.entries.end(), [](const auto& a, const auto& b) { return a.count > b.count; });
  if (most >= 0 && pairs.pairs > most) pairs.entries.resize(static_cast<size_t>(most));
  return pairs;
}

/// `pairs(first batch, count)` over all ranges together.
template <class Pairs>
PairTable sum_ranges(const std::vector<BatchRange>& ranges, Pairs pairs) {
  if (ranges.size() == 1) return pairs(ranges[0].first, ranges[0].end - ranges[0].first);
  PairTable sum = pairs(0, 0);
  for (const BatchRange& range : ranges) sum.add(pairs(range.first, range.end - range.first));
  return sum;
}

}  // namespace

std::shared_ptr<const RoutingFlow> read_routing_flow(const std::string& file, int64_t run, int64_t first_batch, int64_t end_batch,
                                                     const std::string& router, int64_t most_pairs, const Progress& progress,
                                                     const std::string& phase) {
  may_block("read_routing_flow");
  const SessionReader reader(file);
  const RunSummary summary = find_run(reader, run);
  const RunLayout layout = reader.layout(summary.id);
  auto flow = std::make_shared<RoutingFlow>();
  flow->run = summary.id;
  flow->batches = summary.batches;
  flow->first_batch = std::clamp<int64_t>(first_batch, 0, summary.batches);
  flow->end_batch = end_batch < 0 ? summary.batches : std::clamp<int64_t>(end_batch, flow->first_batch, summary.batches);
  const auto ranges = phase.empty() ? std::vector<std::vector<BatchRange>>(layout.spaces.size(), {{flow->first_batch, flow->end_batch}})
                                    : batches_of_phase(reader, summary.id, phase, flow->first_batch, flow->end_batch, progress);
  const auto ranges_of = [&](size_t r) -> const std::vector<BatchRange>& { return ranges[static_cast<size_t>(layout.routers[r].space)]; };
  for (size_t r = 0; r < layout.routers.size(); ++r) {
    const RouterInfo& info = layout.routers[r];
    FlowRouter router_of_flow;
    router_of_flow.line = line_of(layout, info);
    router_of_flow.next = reader.next_router(summary.id, static_cast<int32_t>(r));
    flow->routers.push_back(std::move(router_of_flow));
  }
  const auto number = [&](const std::string& name) {
    for (size_t r = 0; r < flow->routers.size(); ++r)
      if (flow->routers[r].line.name == name) return static_cast<int32_t>(r);
    return -1;
  };
  flow->router = number(router);
  if (flow->router >= 0 && flow->routers[static_cast<size_t>(flow->router)].next < 0 &&
      flow->routers[static_cast<size_t>(flow->router)].line.fan_out < 2)
    for (size_t r = 0; r < flow->routers.size(); ++r)
      if (flow->routers[r].next == number(router)) flow->router = static_cast<int32_t>(r);
  for (size_t r = 0; r < flow->routers.size() && flow->router < 0; ++r)
    if (flow->routers[r].next >= 0 || flow->routers[r].line.fan_out > 1) flow->router = static_cast<int32_t>(r);
  for (size_t r = 0; r < flow->routers.size(); ++r) {
    progress.report("reading transitions", static_cast<int64_t>(r), static_cast<int64_t>(flow->routers.size()));
    const bool whole = static_cast<int32_t>(r) == flow->router;
    if (flow->routers[r].next >= 0) {
      const PairTable table = sum_ranges(ranges_of(r), [&](int64_t first, int64_t count) {
        return reader.transitions(summary.id, static_cast<int32_t>(r), first, count);
      });
      if (whole) flow->transitions = pairs_of(table, -1);
      flow->routers[r].to_next = pairs_of(table, most_pairs);
    }
    if (whole && flow->routers[r].line.fan_out > 1)
      flow->together = pairs_of(
          sum_ranges(ranges_of(r),
                     [&](int64_t first, int64_t count) { return reader.coactivation(summary.id, static_cast<int32_t>(r), first, count); }),
          -1);
  }
  return flow;
}

}  // namespace stormcell
