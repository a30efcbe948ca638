// Whose rows are whose, of a step that works on all slots of the decision that is its input 1, or on the members of them all; and the
// weights of its branches.
#pragma once
#include <vector>

#include "core/cpu/cpu_kernel.h"
#include "core/graph/roles.h"

namespace stormcell::cpu {

class BranchRows {
 public:
  explicit BranchRows(const Making& m)
      : members_(m.graph().holds_members(SpaceId(m.node().attributes.integer("slots")))),
        from_cells_(m.type(0).space == m.value(1).type.space),
        offsets_(static_cast<size_t>(m.value(1).branches) + 1) {}

  int32_t branches() const { return static_cast<int32_t>(offsets_.size()) - 1; }
  /// Rows of branch b are [offsets[b], offsets[b + 1]).
  const int32_t* offsets(const Call& c) const {
    const DecisionView& d = *c.in[1].decision;
    if (!members_) return d.offsets;
    for (size_t b = 0; b < offsets_.size(); ++b) offsets_[b] = static_cast<int32_t>(c.out[0].groups.begin(d.offsets[b]));
    return offsets_.data();
  }
  /// The row of input 0 that each row reads; null: its own.
  const int32_t* row_of_slot(const Call& c) const { return from_cells_ ? c.in[1].decision->cell : nullptr; }
  bool from_cells() const { return from_cells_; }

 private:
  bool members_, from_cells_;
  mutable std::vector<int32_t> offsets_;  // refilled by each run; a kernel runs on one stream at a time
};

/// Floats of every branch, by branch: a weight, or a bias, from input `first` on.
class BranchFloats {
 public:
  BranchFloats() = default;
  /// `request(input)` gives the handle.
  template <class Request>
  BranchFloats(const Making& m, size_t first, Request&& request)
      : of_(m.node().attributes.list("branches")), at_(static_cast<size_t>(m.value(1).branches), nullptr) {
    for (size_t i = 0; i < of_.size(); ++i) handles_.push_back(request(first + i));
  }
  /// Null: the branch is absent, its part has not come, or a wave before has computed it. Addresses are looked up at each run: weights come
  /// and go between waves.
  const float* const* left_to_compute(const Call& c) const { return look_up(c, true); }
  /// Those of all branches, whatever waves there were; null where there are none.
  const float* const* all(const Call& c) const { return handles_.empty() ? nullptr : look_up(c, false); }

 private:
  const float* const* look_up(const Call& c, bool left) const {
    for (size_t i = 0; i < of_.size(); ++i) {
      const bool computed = left && c.computed && c.computed[of_[i]];
      at_[static_cast<size_t>(of_[i])] = computed ? nullptr : c.floats(handles_[i]);
    }
    return at_.data();
  }
  std::vector<int64_t> of_;
  std::vector<WeightHandle> handles_;
  mutable std::vector<const float*> at_;  // refilled by each run
};

}  // namespace stormcell::cpu
