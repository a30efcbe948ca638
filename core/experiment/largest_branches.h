// Operations of the same network without routing, for comparison with the costs of items.
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "core/graph/branch_shares.h"
#include "core/graph/graph.h"

namespace stormcell {

/// The branch that a residual or exit threshold may leave out; empty for other routers.
std::optional<int32_t> gated_branch(const Node& route);

/// Operations of the same network without routing: at each router every cell takes the branch with the most operations
/// (the fan_out largest), and nothing that only decisions need is counted.
class LargestBranches {
 public:
  /// Empty if a router may leave a part out: without routing the network computes all parts.
  static std::optional<LargestBranches> of(const Graph& graph, const std::vector<ValueId>& routed);
  double operations(const Bindings& bindings) const;

 private:
  explicit LargestBranches(const Graph& graph) : graph_(&graph) {}
  const Graph* graph_;
  BranchShares shares_;
  std::set<NodeId> decide_;  // nodes that only decisions need
};

}  // namespace stormcell
