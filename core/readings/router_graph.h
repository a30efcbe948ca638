// The routers of a run as the graph that they form: how many cells came to each, and by which branch they went on.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/readings/session_view.h"

namespace stormcell {

struct GraphRouter {
  RouterLine line;
  int64_t cells = 0;  ///< cells that came, padding left out
  /// [branches] cells that a branch got, padding left out, and that its capacity kept out
  std::vector<int64_t> load, dropped;
  /// The most cells that may have got a branch (a cell may get several): a router that may refuse cells lets the others
  /// go past.
  int64_t sent() const;
};
/// Cells of one router that come to another and meet no router between.
struct GraphEdge {
  int32_t from = 0, to = 0;    ///< indexes of routers, from < to
  std::vector<int64_t> cells;  ///< by branch of `from`: transitions, as read_routing_flow() counts them
  int64_t total() const;
};
struct RouterGraph {
  int64_t run = 0, batches = 0;
  int64_t first_batch = 0, end_batch = 0;  ///< batches that were counted
  std::vector<GraphRouter> routers;        ///< in the order in which cells meet them
  std::vector<GraphEdge> edges;            ///< by `from`, then `to`
  /// The most cells that a router of the same cell space had: what shares are of.
  int64_t all_cells(const GraphRouter& router) const;
  /// False if several routers of one cell space seem to be side by side: a trace of counts does not tell who went on
  /// where.
  bool tells_edges() const;
};
/// `run` 0: the newest. `phase`: only its batches; empty: all. Reads the largest windows that make up the batches.
std::shared_ptr<const RouterGraph> read_router_graph(const std::string& file, int64_t run, BatchRange range,
                                                     const std::string& phase = {}, const Progress& progress = {});

}  // namespace stormcell
