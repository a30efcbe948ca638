// separable_conv2d(x [S, H, W, C], w [C, kh, kw, 1], v [O, 1, 1, C]; extras bias [O], residual [S, H', W', O]) -> [S,
// H', W', O], channels last: activation((x * w) * v + bias) + residual, each channel of x convolved by itself, then all
// of a pixel's multiplied by v. As one step it computes conv2d with groups=C and a conv2d of 1 x 1 (depthwise
// separable convolution: Sifre 2014; Howard et al. 2017). attributes: stride, padding of the first, activation,
// residual_first as in conv2d.
#include "core/graph/ops/convolution.h"

namespace stormcell {
namespace {
std::vector<Result> infer_separable_conv2d(const Graph& g, const Node& n) {
  expect_inputs(n, 3 + extra_count(n), 3 + extra_count(n));
  expect_cells(g, n, 0, 3);
  const TensorType& x = input_type(g, n, 0);
  const Dim channels = x.content[2];
  if (channels.constant() < 2) operator_error(n, "at least two channels", type_text(g, x));
  const TensorType between = convolved(g, n, 1, x.space, channels.constant());
  if (between.content[2] != channels)
    operator_error(n, "one kernel for each of " + channels.to_text(g.symbols) + " channels",
                   type_text(g, input_type(g, n, 1)));
  const TensorType& v = input_type(g, n, 2);
  expect_weight(g, n, 2);
  if (v.space != kNone || v.content.size() != 4 || v.content[1] != Dim(1) || v.content[2] != Dim(1) ||
      v.content[3] != channels)
    operator_error(n, "weights [O, 1, 1, C] of C = " + channels.to_text(g.symbols), type_text(g, v));
  const TensorType y{DType::f32, x.space, {between.content[0], between.content[1], v.content[0]}};
  if (const auto i = extra_input(n, "bias")) expect_shared(g, n, *i, {v.content[0]});
  expect_extra_like(g, n, "residual", y);
  expect_residual_first(n);
  return {{y}};
}
Cost cost_separable_conv2d(const CostContext& c, const Node& n) {
  Cost cost = cost_of_traffic(c, n);
  const auto of = [&](size_t input, size_t i) {
    return static_cast<double>(c.graph.value(n.inputs[input]).type.content[i].constant());
  };
  const double pixels = value_bytes(c, n.outputs[0]) / 4 / of(2, 0);
  cost.flops = 2 * pixels * of(1, 0) * (of(1, 1) * of(1, 2) + of(2, 0));
  return cost;
}
constexpr AttributeRule kSeparableConv2dAttributes[] = {
    {"stride", AttributeKind::integer, defaults_to(1)},
    {"padding", AttributeKind::integer, defaults_to(0)},
    {"activation", AttributeKind::word, defaults_to("none"), kActivationWordsOrNone},
    {"residual_first", AttributeKind::flag, defaults_to(0)}};
}  // namespace
extern const Operator kSeparableConv2d;
const Operator kSeparableConv2d{.name = "separable_conv2d",
                                .infer = infer_separable_conv2d,
                                .flow = flow_cell,
                                .cost = cost_separable_conv2d,
                                .role = Role::pointwise,
                                .extras = "bias residual",
                                .attributes = kSeparableConv2dAttributes};
}  // namespace stormcell
