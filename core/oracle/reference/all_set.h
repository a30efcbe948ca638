// all_set: 1 where all flags are set.
#pragma once
#include "core/oracle/reference/frame.h"

namespace stormcell::reference {

template <class Scalar>
void all_set(const Call<Scalar>& c) {
  int32_t all = 1;
  for (const int32_t flag : c.in(0).integers) all &= flag != 0;
  c.out().integers[0] = all;
}

}  // namespace stormcell::reference
