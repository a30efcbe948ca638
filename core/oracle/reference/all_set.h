// all_set: 1 where all flags of all inputs are set.
#pragma once
#include "core/oracle/reference/frame.h"

namespace stormcell::reference {

template <class Scalar>
void all_set(const Call<Scalar>& c) {
  int32_t all = 1;
  for (size_t i = 0; i < c.node.inputs.size(); ++i)
    for (const int32_t flag : c.in(i).integers) all &= flag != 0;
  c.out().integers[0] = all;
}

}  // namespace stormcell::reference
