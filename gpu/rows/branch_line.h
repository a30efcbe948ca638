// The rows of all branches of a decision on one line: those of a branch lie together, one branch behind another.
#pragma once
#include "gpu/rows/call.h"

namespace stormcell::gpu {

struct BranchLine {
  const int32_t* offsets = nullptr;  ///< [branches + 1] where each branch begins; null: there is one branch alone
  const int32_t* cell = nullptr;     ///< [slots] the cell of each
  int32_t branches = 1;

  /// Rows of all branches.
  STORMCELL_BOTH int32_t rows() const { return offsets[branches]; }
  /// The branch that a row belongs to. Branches without rows own none.
  STORMCELL_BOTH int32_t branch(int64_t row) const {
    if (!offsets) return 0;
    int32_t low = 0, high = branches;  // offsets[low] <= row < offsets[high]
    while (high - low > 1) {
      const int32_t middle = (low + high) / 2;
      (offsets[middle] <= row ? low : high) = middle;
    }
    return low;
  }
  /// The row of a slot, in rows of cells or of slots.
  STORMCELL_BOTH int64_t source(int64_t slot, bool from_cells) const { return from_cells ? cell[slot] : slot; }
};

/// The line of a decision. `offsets`: the Ref of counted offsets (PlannedMapArgs), which says nothing where the
/// decision's own count.
template <class Args>
STORMCELL_DEVICE BranchLine line_of(const Args& a, const Ref& decision, const Ref& offsets) {
  const DecisionView d = a.decision.at(a.address(decision));
  BranchLine line;
  line.offsets = offsets.access == Access::none ? d.offsets : reinterpret_cast<const int32_t*>(a.address(offsets));
  line.cell = d.cell;
  line.branches = a.decision.branches;
  return line;
}

}  // namespace stormcell::gpu
