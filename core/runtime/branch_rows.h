// The rows of each branch in a step that computes all branches of a decision (its input 1), and the branch that each
// weight of the step serves. Rows are slots, or members of slots.
#pragma once
#include <cstdint>
#include <vector>

#include "core/cell/ragged.h"
#include "core/runtime/kernel_build_context.h"

namespace stormcell {

class BranchRows {
 public:
  explicit BranchRows(const KernelBuildContext& context);
  int32_t branches() const { return branches_; }
  /// Rows are those of members, not of slots.
  bool holds_members() const { return members_; }
  /// Input 0 holds the decision's cells, not its slots: the row of slot s is the decision's cell[s].
  bool from_cells() const { return from_cells_; }
  /// The first row of a branch; for branches(), the end of the last one's rows. `groups`: of the step's output.
  int32_t first_row(const DecisionView& decision, const CellGroups& groups, int32_t branch) const {
    const int32_t slot = decision.offsets[branch];
    return members_ ? static_cast<int32_t>(groups.begin(slot)) : slot;
  }

 private:
  bool members_, from_cells_;
  int32_t branches_;
};

/// One weight or bias of each branch that the node's list names.
class BranchWeights {
 public:
  struct Of {
    int32_t branch;
    WeightHandle handle;
  };
  BranchWeights() = default;
  /// `request(input)` gives the handles of inputs from `first` on.
  template <class Request>
  BranchWeights(const KernelBuildContext& context, size_t first, Request&& request) {
    for (const int64_t branch : context.node().attributes.list("branches"))
      weights_.push_back({static_cast<int32_t>(branch), request(first + weights_.size())});
  }
  bool empty() const { return weights_.empty(); }
  /// The weights in the order of the list.
  const std::vector<Of>& weights() const { return weights_; }

 private:
  std::vector<Of> weights_;
};

}  // namespace stormcell
