// argmax: the index of the largest element of a row, the lowest of equal ones.
#pragma once
#include "core/oracle/reference/frame.h"

namespace stormcell::reference {

template <class Scalar>
void argmax(const Call<Scalar>& c) {
  const int64_t width = c.width(0);
  for (int64_t r = 0; r < c.rows(0); ++r) {
    const Scalar* x = c.in(0).reals.data() + r * width;
    int64_t best = 0;
    for (int64_t i = 1; i < width; ++i)
      if (is_above(x[i], x[best])) best = i;
    c.out().integers[r] = static_cast<int32_t>(best);
  }
}

}  // namespace stormcell::reference
