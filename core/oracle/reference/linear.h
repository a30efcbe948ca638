// linear: activation(norm(x) w^T + bias) * multiply + residual, or the residual before the activation.
#pragma once
#include "core/oracle/reference/fused_product.h"

namespace stormcell::reference {

template <class Scalar>
void linear(const Call<Scalar>& c) {
  const int64_t rows = c.rows(0), k = c.width(0), n = c.out_width();
  if (rows == 0) return;  // an absent branch's weights are not read
  std::vector<Scalar> held;
  const Scalar* x = c.product_input(1, normed(c, c.in(0).reals.data(), rows, k, held), rows * k, held);
  product(c, x, rows, k, c.weight(1), n, static_cast<Scalar>(real_of(c.node, "scale")), c.out().reals.data());
  epilogue(c, c.out().reals, n);
}

}  // namespace stormcell::reference
