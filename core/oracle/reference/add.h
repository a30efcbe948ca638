// add: the sum of two values, element by element.
#pragma once
#include "core/oracle/reference/frame.h"

namespace stormcell::reference {

template <class Scalar>
void add(const Call<Scalar>& c) {
  const auto &a = c.in(0), &b = c.in(1);
  for (size_t i = 0; i < a.reals.size(); ++i) c.out().reals[i] = a.reals[i] + b.reals[i];
  for (size_t i = 0; i < a.integers.size(); ++i) c.out().integers[i] = a.integers[i] + b.integers[i];
}

}  // namespace stormcell::reference
