// embedding: row ids[c] of the table.
#pragma once
#include "core/oracle/reference/frame.h"

namespace stormcell::reference {

template <class Scalar>
void embedding(const Call<Scalar>& c) {
  const auto& ids = c.in(0).integers;
  const HeldWeight table = c.table(1);
  const int64_t width = c.out_width(), rows = table.info->shape[0];
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < 0 || ids[i] >= rows)
      bad_input(c.node.name, "expected ids below " + std::to_string(rows) + ", got " + std::to_string(ids[i]) +
                                 " in row " + std::to_string(i));
    table.read(ids[i] * width, width, c.out().reals.data() + static_cast<int64_t>(i) * width);
  }
}

}  // namespace stormcell::reference
