// grouped_conv2d: conv2d with the weights and the bias of the branch that each slot belongs to.
#pragma once
#include "core/oracle/reference/conv2d.h"
#include "core/oracle/reference/grouped_rows.h"

namespace stormcell::reference {

template <class Scalar>
void grouped_conv2d(const Call<Scalar>& c) {
  const auto& branches = c.attributes().list("branches");
  const bool biased = flag_of(c.node, "biases");
  const GroupedRows<Scalar> of(c);
  const ConvolvedMaps maps(c, 2, integer_of(c.node, "groups"));
  for (size_t i = 0; i < branches.size(); ++i) {
    const int64_t first = of.begin(branches[i]);
    std::vector<Scalar> bias;
    if (biased) bias = c.whole(2 + branches.size() + i);
    convolve_maps(c, maps, of.x + first * c.width(0), of.count(branches[i]), 2 + i, bias,
                  c.out().reals.data() + first * c.out_width());
  }
  finish_maps(c);
}

}  // namespace stormcell::reference
