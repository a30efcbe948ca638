// grouped_linear: linear with the weights and the bias of the branch that each slot belongs to.
#pragma once
#include "core/oracle/reference/fused_product.h"
#include "core/oracle/reference/grouped_rows.h"

namespace stormcell::reference {

template <class Scalar>
void grouped_linear(const Call<Scalar>& c) {
  const auto& branches = c.attributes().list("branches");
  const bool biased = flag_of(c.node, "biases");
  const int64_t k = c.width(0), n = c.out_width();
  const GroupedRows<Scalar> of(c);
  std::vector<Scalar> held;
  const Scalar* x = c.product_input(2, normed(c, of.x, of.rows, k, held), of.rows * k, held);
  for (size_t i = 0; i < branches.size(); ++i) {
    const int64_t first = of.begin(branches[i]), load = of.count(branches[i]);
    if (load == 0) continue;
    Scalar* y = c.out().reals.data() + first * n;
    product(c, x + first * k, load, k, c.weight(2 + i), n, static_cast<Scalar>(real_of(c.node, "scale")), y);
    if (!biased) continue;
    const std::vector<Scalar> bias = c.whole(2 + branches.size() + i);
    for (int64_t at = 0; at < load * n; ++at) y[at] += bias[at % n];
  }
  epilogue(c, c.out().reals, n);
}

}  // namespace stormcell::reference
