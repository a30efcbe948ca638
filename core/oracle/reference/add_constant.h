// add_constant: x + value, of integers.
#pragma once
#include "core/oracle/reference/frame.h"

namespace stormcell::reference {

template <class Scalar>
void add_constant(const Call<Scalar>& c) {
  const int32_t value = c.attributes().integer("value");
  const auto& x = c.in(0).integers;
  for (size_t i = 0; i < x.size(); ++i) c.out().integers[i] = x[i] + value;
}

}  // namespace stormcell::reference
