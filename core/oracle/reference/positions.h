// positions: the place of each cell among those of its parent whose mask is set, counted from the parent's `from` on; 1
// where it is not.
#pragma once
#include "core/oracle/reference/frame.h"

namespace stormcell::reference {

template <class Scalar>
void positions(const Call<Scalar>& c) {
  const CellGroups groups = c.frame.groups(c.type(0).space);
  const auto& mask = c.in(0).integers;
  const auto from = extra_input(c.node, "from");
  for (int64_t p = 0; p < groups.parents; ++p) {
    int32_t seen = from ? c.in(*from).integers[p] : 0;
    for (int64_t i = groups.begin(p); i < groups.begin(p) + groups.count(p); ++i)
      c.out().integers[i] = mask[i] ? seen++ : 1;
  }
}

}  // namespace stormcell::reference
