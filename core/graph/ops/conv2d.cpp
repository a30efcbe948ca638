// conv2d(x [S, H, W, C], w [O, kh, kw, C/groups]; extras bias [O], residual [S, H', W', O]) -> [S, H', W', O], channels
// last: activation(x * w + bias) + residual; with residual_first=1 activation(x * w + bias + residual). attributes:
// stride, padding, groups, activation, residual_first.
#include "core/graph/ops/convolution.h"

namespace stormcell {
namespace {
std::vector<Result> infer_conv2d(const Graph& g, const Node& n) {
  expect_inputs(n, 2 + extra_count(n), 2 + extra_count(n));
  expect_cells(g, n, 0, 3);
  const TensorType y = convolved(g, n, 1, input_type(g, n, 0).space, integer_of(n, "groups"));
  if (const auto i = extra_input(n, "bias")) expect_shared(g, n, *i, {y.content[2]});
  expect_extra_like(g, n, "residual", y);
  expect_residual_first(n);
  return {{y}};
}
Cost cost_conv2d(const CostContext& c, const Node& n) {
  Cost cost = cost_of_traffic(c, n);
  cost.flops = convolution_flops(c, n, 1);
  return cost;
}
constexpr AttributeRule kConv2dAttributes[] = {
    {"stride", AttributeKind::integer, defaults_to(1)},
    {"padding", AttributeKind::integer, defaults_to(0)},
    {"groups", AttributeKind::integer, defaults_to(1)},
    {"activation", AttributeKind::word, defaults_to("none"), kActivationWordsOrNone},
    {"residual_first", AttributeKind::flag, defaults_to(0)}};
}  // namespace
extern const Operator kConv2d;
const Operator kConv2d{.name = "conv2d",
                       .infer = infer_conv2d,
                       .flow = flow_cell,
                       .cost = cost_conv2d,
                       .role = Role::pointwise,
                       .extras = "bias residual",
                       .attributes = kConv2dAttributes,
                       .grouped_as = "grouped_conv2d",
                       .absorbs = "activation residual",
                       .chains_as = "residual_blocks",
                       .separable_as = "separable_conv2d"};
}  // namespace stormcell
