// expand: rows of ragged cells back to their base space, 0 where no row is.
#pragma once
#include "core/oracle/reference/frame.h"

namespace stormcell::reference {

template <class Scalar>
void expand(const Call<Scalar>& c) {
  const SpaceId space = c.type(0).space, base = c.graph().space(space).base;
  const int64_t width = c.width(0);
  for (int64_t r = 0; r < c.rows(0); ++r) {
    const int64_t to = c.frame.follow(space, base, r) * width;
    if (c.is_real(0)) {
      std::copy_n(c.in(0).reals.data() + r * width, width, c.out().reals.data() + to);
    } else {
      std::copy_n(c.in(0).integers.data() + r * width, width, c.out().integers.data() + to);
    }
  }
}

}  // namespace stormcell::reference
