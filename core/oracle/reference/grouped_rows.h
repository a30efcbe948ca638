// Rows that a node reads if it works on all slots of a decision, or on the members of all slots, and which branch they
// belong to.
#pragma once
#include "core/graph/roles.h"
#include "core/oracle/reference/frame.h"

namespace stormcell::reference {

template <class Scalar>
struct GroupedRows {
  const Scalar* x = nullptr;  ///< a row for each slot: its own, or its cell's
  int64_t rows = 0;
  std::vector<Scalar> held = {};

  explicit GroupedRows(const Call<Scalar>& c) : decision_(c.decision(1)) {
    const SpaceId slots(c.attributes().integer("slots"));
    rows = c.frame.rows(slots);
    if (c.graph().holds_members(slots)) members_ = &c.frame.ragged(c.graph().space(slots).offsets);
    x = c.in(0).reals.data();
    if (c.type(0).space == slots) return;
    const int64_t width = c.width(0);
    held.resize(rows * width);
    for (int64_t s = 0; s < rows; ++s) std::copy_n(x + decision_.cell[s] * width, width, held.data() + s * width);
    x = held.data();
  }
  int64_t begin(int64_t branch) const { return row_at(decision_.offsets[branch]); }
  int64_t count(int64_t branch) const { return row_at(decision_.offsets[branch + 1]) - begin(branch); }

 private:
  int64_t row_at(int32_t slot) const { return members_ ? members_->offsets[slot] : slot; }

  const DecisionView& decision_;
  const RaggedView* members_ = nullptr;
};

}  // namespace stormcell::reference
