// A graph as frameworks without routing run it: what routing itself saves is measured beside it. No pass: it is never
// faster, and nobody runs it for its answers.
#pragma once
#include <string>

#include "core/graph/graph.h"

namespace stormcell {

struct DenseGraph {
  Graph graph;
  std::string why_not;  ///< why there is none, a part of a sentence; empty: `graph` is it
};

/// Every node of a branch computes all cells of the space that its routers decide about; where branches join, the rows
/// of cells that were not sent there are masked. Routers decide as they do, about the cells that come to them, so that
/// the answers are the same.
DenseGraph dense_graph(const Graph& graph);

}  // namespace stormcell
