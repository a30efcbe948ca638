// The next routers that a router's cells meet: routers form a graph, not a chain.
#pragma once
#include <vector>

#include "core/graph/graph.h"

namespace stormcell {

/// Cells of `from` come to `to` and meet no router between. Both are route nodes; `from` comes before `to` in running
/// order, so edges form no cycle.
struct RouterEdge {
  NodeId from = kNone, to = kNone;
  /// Ascending: of which branches of `from`; empty: of all. A router nested in a branch takes that branch's cells; the
  /// others go on to whatever follows the gather.
  std::vector<int32_t> branches;
  bool operator==(const RouterEdge&) const = default;
};

/// Ordered by `to`, then `from`, in running order. Followed are cells that stay themselves (Mix::cell), through
/// scatters, gathers and ragged spaces, both bodies of a guard, and states that are written and read again; never from
/// one turn of a repeat to the next, whose cells are others (docs/decisions/016-routers-are-a-graph.md). The graph must
/// be verified.
std::vector<RouterEdge> router_edges(const Graph& graph);

}  // namespace stormcell
