// grouped_residual_blocks: residual_blocks with the weights of the branch that each slot belongs to.
#pragma once
#include "core/oracle/reference/grouped_rows.h"
#include "core/oracle/reference/residual_blocks.h"

namespace stormcell::reference {

template <class Scalar>
void grouped_residual_blocks(const Call<Scalar>& c) {
  const auto& branches = c.attributes().list("branches");
  const GroupedRows<Scalar> of(c);
  const int64_t map = c.out_width();
  for (size_t i = 0; i < branches.size(); ++i) {
    const int64_t first = of.begin(branches[i]), count = of.count(branches[i]);
    Scalar* y = c.out().reals.data() + first * map;
    std::copy_n(of.x + first * map, count * map, y);
    through_blocks(c, y, count, 2 + i, branches.size());
  }
}

}  // namespace stormcell::reference
