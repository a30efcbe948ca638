// choice_weight: of each cell of a routed space, the weight of the choice by which it is there.
#pragma once
#include "core/oracle/reference/frame.h"

namespace stormcell::reference {

template <class Scalar>
void choice_weight(const Call<Scalar>& c) {
  const SpaceId space(c.attributes().integer("space"));
  for (int64_t r = 0; r < c.frame.rows(space); ++r)
    c.out().reals[static_cast<size_t>(r)] = static_cast<Scalar>(c.frame.weight_of(space, r));
}

}  // namespace stormcell::reference
