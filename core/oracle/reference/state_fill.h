// state_fill: sets all elements of a state.
#pragma once
#include "core/oracle/reference/frame.h"

namespace stormcell::reference {

template <class Scalar>
void state_fill(const Call<Scalar>& c) {
  const double value = c.attributes().real("value");
  std::fill(c.in(0).reals.begin(), c.in(0).reals.end(), static_cast<Scalar>(value));
  std::fill(c.in(0).integers.begin(), c.in(0).integers.end(), static_cast<int32_t>(value));
}

}  // namespace stormcell::reference
