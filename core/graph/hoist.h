// Finds work that a decision does not need: nodes before a router's scatters that only these use. They could wait until
// the decision is taken, to run only for the cells that go where they are needed (operator reorder of Brainstorm,
// OSDI'23; docs/decisions/040-reorder.md).
#pragma once
#include <string>
#include <vector>

#include "core/graph/branch_shares.h"
#include "core/graph/graph.h"

namespace stormcell {

struct Hoist {
  NodeId router = kNone;
  ValueId decision = kNone;
  std::string name;
  std::vector<ValueId> cone;     ///< results on which the decision depends, in running order
  std::vector<ValueId> sources;  ///< inputs and states on which it depends
  std::vector<NodeId> nodes;     ///< those that could run after the decision, in running order
  // Saved for each cell that the router decides about, by the shares given.
  double flops = 0;
  double bytes = 0;  ///< activations; weights are read as long as one cell is left
};

/// Finds the work that the router of `decision` does not need.
Hoist find_hoist(const Graph& graph, ValueId decision, const Bindings& bindings, const BranchShares& shares = {});
/// One entry a route node, in running order. Costs need the extents' values.
std::vector<Hoist> find_hoists(const Graph& graph, const Bindings& bindings, const BranchShares& shares = {});

}  // namespace stormcell
