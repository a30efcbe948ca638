// The part of a decision's cells that goes to each branch: from a profile, or assumed alike for all.
#pragma once
#include <map>
#include <vector>

#include "core/graph/graph.h"

namespace stormcell {

class BranchShares {
 public:
  /// Every decision sends its cells to all branches alike.
  BranchShares() = default;
  /// Mean load of each branch, divided by the cells that came.
  void set(ValueId decision, std::vector<double> shares) { shares_[decision] = std::move(shares); }
  bool is_recorded(ValueId decision) const { return shares_.contains(decision); }
  /// The part of a mask's cells that are not 0; all without.
  void set_present(ValueId ragged, double part) { present_[ragged] = part; }
  double cells_present(ValueId ragged) const {
    const auto at = present_.find(ragged);
    return at == present_.end() ? 1 : at->second;
  }

  /// The part of the cells of `decision` that goes to `branch` (with kAllBranches: choices for each cell).
  double of(const Graph& graph, ValueId decision, int32_t branch) const;
  /// The part that goes to at least one of `branches`; exact if a cell gets one branch, else as if branches were chosen
  /// independently.
  double of_any(const Graph& graph, ValueId decision, const std::vector<int32_t>& branches) const;
  /// Mean rows of a space.
  double rows(const Graph& graph, SpaceId space, const Bindings& bindings) const;

 private:
  std::map<ValueId, std::vector<double>> shares_;
  std::map<ValueId, double> present_;
};

}  // namespace stormcell
