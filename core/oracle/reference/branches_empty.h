// branches_empty: 1 where none of the branches got a cell.
#pragma once
#include "core/oracle/reference/frame.h"

namespace stormcell::reference {

template <class Scalar>
void branches_empty(const Call<Scalar>& c) {
  const DecisionView& d = c.decision(0);
  int32_t empty = 1;
  for (const int64_t b : c.attributes().list("branches"))
    if (d.load(static_cast<int32_t>(b)) > 0) empty = 0;
  c.out().integers[0] = empty;
}

}  // namespace stormcell::reference
