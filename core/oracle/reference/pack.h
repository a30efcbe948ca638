// pack: rows of a base space to ragged cells.
#pragma once
#include "core/oracle/reference/frame.h"

namespace stormcell::reference {

template <class Scalar>
void pack(const Call<Scalar>& c) {
  const auto& spaces = c.attributes().list("spaces");
  const int64_t width = c.width(0);
  for (size_t i = 0; i < spaces.size(); ++i) {
    const SpaceId space(spaces[i]);
    for (int64_t r = 0; r < c.frame.rows(space); ++r) {
      const int64_t from = c.frame.follow(space, c.type(0).space, r) * width;
      if (c.is_real(0)) {
        std::copy_n(c.in(0).reals.data() + from, width, c.out(i).reals.data() + r * width);
      } else {
        std::copy_n(c.in(0).integers.data() + from, width, c.out(i).integers.data() + r * width);
      }
    }
  }
}

}  // namespace stormcell::reference
