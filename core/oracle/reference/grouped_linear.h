// grouped_linear: linear with the weights and the bias of the branch that each slot belongs to.
#pragma once
#include "core/graph/roles.h"
#include "core/oracle/reference/fused_product.h"

namespace stormcell::reference {

template <class Scalar>
void grouped_linear(const Call<Scalar>& c) {
  const DecisionView& d = c.decision(1);
  const auto& branches = c.attributes().list("branches");
  const size_t fixed = 2 + owned_inputs(c.node);
  const bool biased = flag_of(c.node, "biases");
  const int64_t slots = d.offsets[d.branches], k = c.width(0), n = c.out_width();
  // Each slot's row of x: its own, or its cell's.
  std::vector<Scalar> rows, held;
  const Scalar* x = c.in(0).reals.data();
  if (c.type(0).space != SpaceId(c.attributes().integer("slots"))) {
    rows.resize(static_cast<size_t>(slots * k));
    for (int64_t s = 0; s < slots; ++s) std::copy_n(x + d.cell[s] * k, k, rows.data() + s * k);
    x = rows.data();
  }
  x = c.product_input(2, normed(c, fixed, x, slots, k, held), slots * k, held);
  for (size_t i = 0; i < branches.size(); ++i) {
    const auto branch = static_cast<int32_t>(branches[i]);
    const int64_t first = d.offsets[branch], load = d.load(branch);
    if (load == 0) continue;
    Scalar* y = c.out().reals.data() + first * n;
    product(c, x + first * k, load, k, c.weight(2 + i), n, static_cast<Scalar>(real_of(c.node, "scale")), y);
    if (!biased) continue;
    const std::vector<Scalar> bias = c.whole(2 + branches.size() + i);
    for (int64_t at = 0; at < load * n; ++at) y[at] += bias[static_cast<size_t>(at % n)];
  }
  epilogue(c, fixed, c.out().reals, n);
}

}  // namespace stormcell::reference
