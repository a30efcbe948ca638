// conv2d(x [S, H, W, C], w [O, kh, kw, C/groups]; extras bias [O], residual [S, H', W', O]) -> [S, H', W', O], channels last:
// activation(x * w + bias) + residual.
// attributes: stride, padding, groups, activation.
#include "core/graph/operator.h"

namespace stormcell {
namespace {
std::vector<Result> infer(const Graph& g, const Node& n) {
  expect_inputs(n, 2 + extra_count(n), 2 + extra_count(n));
  expect_cells(g, n, 0, 3);
  const TensorType &x = input_type(g, n, 0), &w = input_type(g, n, 1);
  const int64_t stride = integer_of(n, "stride"), padding = integer_of(n, "padding"), groups = integer_of(n, "groups");
  if (w.space != kNone || w.content.size() != 4) operator_error(n, "weights [O, kh, kw, C/groups]", type_text(g, w));
  const int64_t h = x.content[0].constant(), width = x.content[1].constant(), c = x.content[2].constant();
  const int64_t o = w.content[0].constant(), kh = w.content[1].constant(), kw = w.content[2].constant();
  constexpr int64_t kMostPadding = 1 << 20;
  if (stride < 1 || padding < 0 || padding > kMostPadding || groups < 1 || c % groups != 0 || o % groups != 0 ||
      w.content[3].constant() != c / groups || h + 2 * padding < kh || width + 2 * padding < kw)
    operator_error(n, "a kernel that fits " + type_text(g, x), type_text(g, w));
  expect_weight(g, n, 1);
  if (const auto i = extra_input(n, "bias", 2)) expect_shared(g, n, *i, {o});
  const TensorType y{DType::f32, x.space, {(h + 2 * padding - kh) / stride + 1, (width + 2 * padding - kw) / stride + 1, o}};
  if (const auto i = extra_input(n, "residual", 2)) {
    expect_real(g, n, *i);
    expect_space(g, n, *i, y.space);
    expect_content(g, n, *i, y.content);
  }
  return {{y}};
}
Cost cost(const CostContext& c, const Node& n) {
  Cost cost = cost_of_traffic(c, n);
  const TensorType& w = c.graph.value(n.inputs[1]).type;
  cost.flops = value_bytes(c, n.outputs[0]) / 4 * 2 *
               static_cast<double>(w.content[1].constant() * w.content[2].constant() * w.content[3].constant());
  return cost;
}
constexpr AttributeRule kAttributes[] = {{"stride", AttributeKind::integer, defaults_to(1)},
                                         {"padding", AttributeKind::integer, defaults_to(0)},
                                         {"groups", AttributeKind::integer, defaults_to(1)},
                                         {"activation", AttributeKind::word, defaults_to("none"), kActivationWordsOrNone}};
}  // namespace
extern const Operator kConv2d;
const Operator kConv2d{.name = "conv2d",
                       .infer = infer,
                       .flow = flow_cell,
                       .cost = cost,
                       .role = Role::pointwise,
                       .extras = "bias residual",
                       .attributes = kAttributes,
                       .absorbs = "activation residual",
                       .chains_as = "residual_blocks"};
}  // namespace stormcell
