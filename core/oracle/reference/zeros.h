// zeros: 0 for each cell of a space.
#pragma once
#include <algorithm>

#include "core/oracle/reference/frame.h"

namespace stormcell::reference {

template <class Scalar>
void zeros(const Call<Scalar>& c) {
  std::fill(c.out().reals.begin(), c.out().reals.end(), Scalar(0));
}

}  // namespace stormcell::reference
