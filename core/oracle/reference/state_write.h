// state_write: replaces a state as a whole.
#pragma once
#include "core/oracle/reference/frame.h"

namespace stormcell::reference {

template <class Scalar>
void state_write(const Call<Scalar>& c) {
  const OracleTensor<Scalar> copy = c.in(1);
  c.in(0) = copy;
}

}  // namespace stormcell::reference
