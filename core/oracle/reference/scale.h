// scale: factor * x.
#pragma once
#include "core/oracle/reference/frame.h"

namespace stormcell::reference {

template <class Scalar>
void scale(const Call<Scalar>& c) {
  const auto factor = static_cast<Scalar>(c.attributes().real("factor"));
  const auto& x = c.in(0).reals;
  for (size_t i = 0; i < x.size(); ++i) c.out().reals[i] = factor * x[i];
}

}  // namespace stormcell::reference
