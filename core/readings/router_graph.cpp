#include "core/readings/router_graph.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "core/base/blocking.h"
#include "core/profile/statistics.h"
#include "core/readings/selected_view.h"
#include "core/readings/session_lookup.h"

namespace stormcell {
namespace {

int64_t sum(const std::vector<int64_t>& values) { return std::accumulate(values.begin(), values.end(), int64_t{0}); }

/// Adds the loads of a range, cut into the largest windows: of 10^5 batches some twenty are read, not all.
void add_loads(const SessionReader& reader, int64_t run, int32_t router, BatchRange range, int64_t batches,
               RouterLoads& to) {
  for (int64_t at = range.first; at < range.end;) {
    int32_t level = coarsest_level(batches);
    const auto fits = [&] {
      const int64_t size = int64_t{1} << (kWindowBits * level);
      return at % size == 0 && (at + size <= range.end || range.end == batches);
    };
    while (level > 0 && !fits()) --level;
    const int64_t window = window_of(at, level);
    for (const RouterLoads& part : reader.loads(run, router, level, {window, window + 1})) to.add(part);
    at = (window + 1) << (kWindowBits * level);
  }
}

}  // namespace

int64_t GraphRouter::sent() const { return std::min(cells, sum(load)); }

int64_t GraphEdge::total() const { return sum(cells); }

int64_t RouterGraph::all_cells(const GraphRouter& router) const {
  int64_t most = 0;
  for (const GraphRouter& other : routers)
    if (other.line.space == router.line.space) most = std::max(most, other.cells);
  return most;
}

bool RouterGraph::tells_edges() const {
  std::set<std::string> spaces;
  for (const GraphRouter& router : routers) spaces.insert(router.line.space);
  return !edges.empty() || spaces.size() == routers.size();
}

std::shared_ptr<const RouterGraph> read_router_graph(const std::string& file, int64_t run, BatchRange range,
                                                     const std::string& phase, const Progress& progress) {
  may_block("read_router_graph");
  const OpenedRun opened(file, run);
  const auto& [reader, summary, layout] = opened;
  auto graph = std::make_shared<RouterGraph>();
  graph->run = summary.id;
  graph->batches = summary.batches;
  range = opened.within(range);
  graph->first_batch = range.first, graph->end_batch = range.end;
  const auto ranges = phase.empty() ? std::vector<std::vector<BatchRange>>(layout.spaces.size(), {range})
                                    : batches_of_phase(reader, summary.id, phase, range, progress);
  const auto ranges_of = [&, &layout = layout](int32_t router) -> const std::vector<BatchRange>& {
    return ranges[layout.routers[router].space];
  };
  for (size_t r = 0; r < layout.routers.size(); ++r) {
    progress.report("reading loads", static_cast<int64_t>(r), std::ssize(layout.routers));
    RouterLoads loads(layout.routers[r].branches);
    for (const BatchRange& batches : ranges_of(static_cast<int32_t>(r)))
      add_loads(reader, summary.id, static_cast<int32_t>(r), batches, summary.batches, loads);
    const RouterLine line = line_of(layout, layout.routers[r]);
    graph->routers.push_back({line, loads.cells_without_padding(line.fan_out), loads.real(), loads.dropped});
  }
  for (const LayoutEdge& e : layout.edges) {
    progress.report("reading transitions", std::ssize(graph->edges), std::ssize(layout.edges));
    GraphEdge edge{e.from, e.to, {}};
    edge.cells.resize(layout.routers[e.from].branches);
    for (const BatchRange& batches : ranges_of(e.to))
      for (const PairCount& pair : reader.transitions(summary.id, e.from, e.to, batches).entries)
        edge.cells[pair.from] += pair.count;
    graph->edges.push_back(std::move(edge));
  }
  std::sort(graph->edges.begin(), graph->edges.end(),
            [](const GraphEdge& a, const GraphEdge& b) { return std::pair(a.from, a.to) < std::pair(b.from, b.to); });
  return graph;
}

}  // namespace stormcell
