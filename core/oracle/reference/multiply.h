// multiply: the product of two values, element by element, or of each row and its number.
#pragma once
#include "core/oracle/reference/frame.h"

namespace stormcell::reference {

template <class Scalar>
void multiply(const Call<Scalar>& c) {
  const auto &a = c.in(0), &b = c.in(1);
  // elements of a for each of b: one, or a row
  const size_t of_one = a.reals.empty() ? 1 : a.reals.size() / b.reals.size();
  for (size_t i = 0; i < a.reals.size(); ++i) c.out().reals[i] = a.reals[i] * b.reals[i / of_one];
}

}  // namespace stormcell::reference
