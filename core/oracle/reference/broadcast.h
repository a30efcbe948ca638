// broadcast: each parent's row to all its cells.
#pragma once
#include "core/oracle/reference/frame.h"

namespace stormcell::reference {

template <class Element>
void broadcast_rows(const std::vector<Element>& x, const CellGroups& groups, int64_t width, std::vector<Element>& y) {
  for (int64_t p = 0; p < groups.parents; ++p)
    for (int64_t r = 0; r < groups.count(p); ++r)
      std::copy_n(x.data() + p * width, width, y.data() + (groups.begin(p) + r) * width);
}

template <class Scalar>
void broadcast(const Call<Scalar>& c) {
  const CellGroups groups = c.frame.groups(SpaceId(c.attributes().integer("space")));
  if (c.is_real(0)) {
    broadcast_rows(c.in(0).reals, groups, c.width(0), c.out().reals);
  } else {
    broadcast_rows(c.in(0).integers, groups, c.width(0), c.out().integers);
  }
}

}  // namespace stormcell::reference
