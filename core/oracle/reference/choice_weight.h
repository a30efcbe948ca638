// choice_weight: for each cell of a routed space, the weight of the choice that sent it there; for all cells, the
// weights of their choices of a branch.
#pragma once
#include "core/oracle/reference/frame.h"

namespace stormcell::reference {

template <class Scalar>
void choice_weight(const Call<Scalar>& c) {
  const SpaceId space(c.attributes().integer("space"));
  if (c.attributes().has("branch")) {
    const DecisionView& d = c.decision(0);
    const int64_t branch = c.attributes().integer("branch");
    for (int64_t cell = 0; cell < c.frame.rows(space); ++cell) {
      Scalar& weight = c.out().reals[cell];
      weight = 0;
      for (int64_t i = cell * d.fan_out; i < (cell + 1) * d.fan_out; ++i)
        if (d.choice[i] == branch) weight = static_cast<Scalar>(d.choice_weight[i]);
    }
    return;
  }
  for (int64_t r = 0; r < c.frame.rows(space); ++r) c.out().reals[r] = static_cast<Scalar>(c.frame.weight_of(space, r));
}

}  // namespace stormcell::reference
