// members: below each slot of a decision about parents, the cells of that parent.
#pragma once
#include "core/oracle/reference/frame.h"

namespace stormcell::reference {

template <class Scalar>
void members(const Call<Scalar>& c) {
  const SpaceId space = c.graph().value(c.node.outputs[0]).type.space;
  const CellGroups base = c.frame.groups(space);
  const DecisionView& d = c.decision(0);
  int64_t cells = 0;
  for (int32_t s = 0; s < d.offsets[d.branches]; ++s) cells += base.end(d.cell[s]) - base.begin(d.cell[s]);
  RaggedView& out = c.frame.make_ragged(c.node.outputs[0], {d.offsets[d.branches], cells});
  member_cells(d, base, out);
}

}  // namespace stormcell::reference
