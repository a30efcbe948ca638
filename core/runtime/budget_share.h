// Shares a weight budget: pinned weights of branches are loaded for good, as dense weights are, and their bytes are no
// longer there for the slots of the others.
#pragma once
#include <cstdint>

#include "core/runtime/part_site.h"

namespace stormcell {

/// Residency of a weight of one branch.
enum class PartResidency : uint8_t {
  streamed,  ///< comes when it is used and gives way to others
  pinned,    ///< stays
};

struct BudgetShare {
  int64_t budget = 0, pinned = 0;  ///< bytes
  /// Bytes for the others.
  int64_t room() const { return budget > pinned ? budget - pinned : 0; }
  /// Throws Error(bad_input) that names the option if pinned weights leave less than `largest` bytes, those of the
  /// largest part, which serves `branch`; 0: all is pinned.
  void check(int64_t largest, const BranchGroup& branch) const;
};

}  // namespace stormcell
