// branches_full: 1 where each of the branches got every cell.
#pragma once
#include "core/oracle/reference/frame.h"

namespace stormcell::reference {

template <class Scalar>
void branches_full(const Call<Scalar>& c) {
  const DecisionView& d = c.decision(0);
  int32_t full = 1;
  for (const int64_t b : c.attributes().list("branches"))
    if (d.load(static_cast<int32_t>(b)) < c.frame.decision_cells(c.node.inputs[0])) full = 0;
  c.out().integers[0] = full;
}

}  // namespace stormcell::reference
