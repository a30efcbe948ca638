// linear(x [S, k], w [n, k]; extras) -> [S, n]: activation(norm(x) w^T + bias) * multiply + residual; with
// residual_first=1 activation(norm(x) w^T + bias + residual). extras: gain [k] (an RMS norm of x with `eps`, folded
// in), bias [n], multiply [S, n], residual [S, n]. attributes: activation (none relu gelu gelu_tanh silu tanh sigmoid),
// scale (of the product), precise=1: x is never rounded to the weights' format. The rows of w may lie in blocks, whole
// ones.
#include "core/graph/operator.h"

namespace stormcell {
namespace {
std::vector<Result> infer_linear(const Graph& g, const Node& n) {
  expect_inputs(n, 2 + extra_count(n), 2 + extra_count(n));
  expect_cells(g, n, 0, 1);
  const TensorType &x = input_type(g, n, 0), &w = input_type(g, n, 1);
  if (w.space != kNone || w.content.size() != 2 || w.content[1] != x.content[0])
    operator_error(n, "weights [n, " + x.content[0].to_text(g.symbols) + "]", type_text(g, w));
  expect_product_weight(g, n, 1);
  if (const auto i = extra_input(n, "gain")) {
    expect_shared(g, n, *i, {x.content[0]});
    expect_attribute(n, "eps");
  }
  if (const auto i = extra_input(n, "bias")) expect_shared(g, n, *i, {w.content[0]});
  const TensorType y{DType::f32, x.space, {w.content[0]}};
  for (const char* extra : {"multiply", "residual"}) expect_extra_like(g, n, extra, y);
  expect_residual_first(n);
  return {{y}};
}
Cost cost_linear(const CostContext& c, const Node& n) {
  Cost cost = cost_of_traffic(c, n);
  const TensorType& w = c.graph.value(n.inputs[1]).type;
  cost.flops = 2 * c.rows(c.graph.value(n.inputs[0]).type.space) *
               static_cast<double>(w.content[0].evaluate(c.bindings)) * w.content[1].evaluate(c.bindings);
  return cost;
}
constexpr AttributeRule kLinearAttributes[] = {
    {"activation", AttributeKind::word, defaults_to("none"), kActivationWordsOrNone},
    {"scale", AttributeKind::real, defaults_to(1.0)},
    {"eps", AttributeKind::real, Presence::optional},
    {"residual_first", AttributeKind::flag, defaults_to(0)},
    {"precise", AttributeKind::flag, defaults_to(0)}};
}  // namespace
extern const Operator kLinear;
const Operator kLinear{.name = "linear",
                       .infer = infer_linear,
                       .flow = flow_cell,
                       .cost = cost_linear,
                       .role = Role::pointwise,
                       .extras = "gain bias multiply residual",
                       .attributes = kLinearAttributes,
                       .grouped_as = "grouped_linear",
                       .absorbs = "gain scale activation multiply residual"};
}  // namespace stormcell
