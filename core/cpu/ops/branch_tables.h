// Tables by branch for a kernel over all branches of a decision: where its rows begin, and its floats. The tables
// lie in the kernel and are refilled by each run; a kernel runs on one stream at a time.
#pragma once
#include <vector>

#include "core/cpu/cpu_kernel.h"
#include "core/runtime/branch_rows.h"

namespace stormcell::cpu {

class BranchRowTable : public BranchRows {
 public:
  explicit BranchRowTable(const BuildContext& m) : BranchRows(m), offsets_(static_cast<size_t>(branches()) + 1) {}
  /// Rows of branch b are [offsets[b], offsets[b + 1]).
  const int32_t* offsets(const Call& c) const {
    const DecisionView& d = *c.in[1].decision;
    if (!holds_members()) return d.offsets;
    for (int32_t b = 0; b <= branches(); ++b) offsets_[b] = first_row(d, c.out[0].groups, b);
    return offsets_.data();
  }
  /// The row of input 0 that each row reads; null: its own.
  const int32_t* row_of_slot(const Call& c) const { return from_cells() ? c.in[1].decision->cell : nullptr; }

 private:
  mutable std::vector<int32_t> offsets_;
};

/// Floats of every branch, by branch: a weight, or a bias, from input `first` on.
class BranchFloats {
 public:
  BranchFloats() = default;
  /// `request(input)` gives the handle.
  template <class Request>
  BranchFloats(const BuildContext& m, size_t first, Request&& request)
      : weights_(m, first, request), at_(static_cast<size_t>(m.value(1).branches), nullptr) {}
  /// Null: the branch is absent, its part has not come, or a wave before has computed it. Addresses are looked up at
  /// each run: weights come and go between waves.
  const float* const* left_to_compute(const Call& c) const { return look_up(c, true); }
  /// The weights of all branches, whatever waves there were; null if there are none.
  const float* const* all(const Call& c) const { return weights_.empty() ? nullptr : look_up(c, false); }

 private:
  const float* const* look_up(const Call& c, bool without_computed) const {
    for (const auto& [branch, handle] : weights_.weights()) {
      const bool computed = without_computed && c.computed && c.computed[branch];
      at_[branch] = computed ? nullptr : c.floats(handle);
    }
    return at_.data();
  }
  BranchWeights weights_;
  mutable std::vector<const float*> at_;
};

}  // namespace stormcell::cpu
