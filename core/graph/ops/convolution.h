// Common parts of the operators that convolve: the map that a map and weights give, and its cost.
#pragma once
#include "core/graph/operator.h"

namespace stormcell {

/// The map over `cells` of input 0, convolved in so many groups by the weights in input `weight`. Throws if the kernel
/// does not fit.
inline TensorType convolved(const Graph& g, const Node& n, size_t weight, SpaceId cells, int64_t groups) {
  const TensorType &x = input_type(g, n, 0), &w = input_type(g, n, weight);
  const int64_t stride = integer_of(n, "stride"), padding = integer_of(n, "padding");
  if (w.space != kNone || w.content.size() != 4) operator_error(n, "weights [O, kh, kw, C/groups]", type_text(g, w));
  const int64_t h = x.content[0].constant(), width = x.content[1].constant(), c = x.content[2].constant();
  const int64_t o = w.content[0].constant(), kh = w.content[1].constant(), kw = w.content[2].constant();
  constexpr int64_t kMostPadding = 1 << 20;
  if (stride < 1 || padding < 0 || padding > kMostPadding || groups < 1 || c % groups != 0 || o % groups != 0 ||
      w.content[3].constant() != c / groups || h + 2 * padding < kh || width + 2 * padding < kw)
    operator_error(n, "a kernel that fits " + type_text(g, x), type_text(g, w));
  expect_weight(g, n, weight);
  return {DType::f32, cells, {(h + 2 * padding - kh) / stride + 1, (width + 2 * padding - kw) / stride + 1, o}};
}

inline double convolution_flops(const CostContext& c, const Node& n, size_t weight) {
  const TensorType& w = c.graph.value(n.inputs[weight]).type;
  return value_bytes(c, n.outputs[0]) / 4 * 2 *
         static_cast<double>(w.content[1].constant() * w.content[2].constant() * w.content[3].constant());
}

}  // namespace stormcell
