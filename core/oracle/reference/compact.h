// compact: the cells whose mask is set, below the same parents.
#pragma once
#include "core/oracle/reference/frame.h"

namespace stormcell::reference {

template <class Scalar>
void compact(const Call<Scalar>& c) {
  const CellGroups base = c.frame.groups(c.type(0).space);
  RaggedView& out = c.frame.make_ragged(c.node.outputs[0], {base.parents, c.rows(0)});
  compact_cells(c.in(0).integers.data(), base, out);
}

}  // namespace stormcell::reference
