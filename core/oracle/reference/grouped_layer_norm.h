// grouped_layer_norm: layer_norm with the gain and the bias of the branch that each row belongs to.
#pragma once
#include "core/oracle/reference/grouped_rows.h"
#include "core/oracle/reference/layer_norm.h"

namespace stormcell::reference {

template <class Scalar>
void grouped_layer_norm(const Call<Scalar>& c) {
  const auto& branches = c.attributes().list("branches");
  const GroupedRows<Scalar> of(c);
  for (size_t i = 0; i < branches.size(); ++i) {
    const int64_t at = of.begin(branches[i]) * c.out_width();
    layer_norm_rows(c, of.x + at, of.count(branches[i]), 2 + i, 2 + branches.size() + i, c.out().reals.data() + at);
  }
}

}  // namespace stormcell::reference
