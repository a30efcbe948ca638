// grouped_linear(x, decision, w_0 [n, k], w_1, ..., with biases=1 b_0 [n], b_1, ...; extras) -> [slots, n]: one product
// for all branches of a decision, each slot with its branch's weights and bias. x lives over the slots, or over the
// decision's own cells: then each slot reads its cell's row; or over members of all slots: `slots` names the cells of
// the result. attributes: branches (list: which branch each w and each b belongs to; slots of absent ones are not
// written), slots, biases, activation, scale, residual_first. extras: gain [k] with eps as in linear; multiply,
// residual [slots, n].
#include "core/graph/ops/grouped.h"

namespace stormcell {
namespace {
std::vector<Result> infer_grouped_linear(const Graph& g, const Node& n) {
  expect_cells(g, n, 0, 1);
  const auto& branches = n.attributes.list("branches");
  const size_t weights = branches.size(), of_branch = flag_of(n, "biases") ? 2 : 1, fixed = 2 + weights * of_branch;
  const SpaceId slots = expect_grouped(g, n, of_branch);
  const TensorType& x = input_type(g, n, 0);
  const TensorType& first = input_type(g, n, 2);
  for (size_t i = 0; i < weights; ++i) {
    const TensorType& w = input_type(g, n, 2 + i);
    if (w.space != kNone || w.content.size() != 2 || w.content[1] != x.content[0] || w.content != first.content)
      operator_error(n, "weights alike, [n, " + x.content[0].to_text(g.symbols) + "]", type_text(g, w));
    expect_product_weight(g, n, 2 + i);
    if (w.dtype != first.dtype) operator_error(n, "weights of one format, " + type_text(g, first), type_text(g, w));
  }
  for (size_t i = 2 + weights; i < fixed; ++i) expect_shared(g, n, i, {first.content[0]});
  if (const auto i = extra_input(n, "gain")) {
    expect_shared(g, n, *i, {x.content[0]});
    expect_attribute(n, "eps");
  }
  const TensorType y{DType::f32, slots, {first.content[0]}};
  for (const char* extra : {"multiply", "residual"}) expect_extra_like(g, n, extra, y);
  expect_residual_first(n);
  return {{y}};
}
Cost cost_grouped_linear(const CostContext& c, const Node& n) {
  // Only branches with rows are read.
  Cost cost;
  const SpaceId slots(n.attributes.integer("slots"));
  const TensorType& w = c.graph.value(n.inputs[2]).type;
  const double rows = c.rows(slots), k = static_cast<double>(w.content[1].evaluate(c.bindings)),
               out = static_cast<double>(w.content[0].evaluate(c.bindings));
  cost.flops = 2 * rows * k * out;
  cost.weight_bytes = grouped_weight_bytes(c, n);
  cost.activation_bytes = rows * (k + out) * 4;
  return cost;
}
constexpr AttributeRule kGroupedLinearAttributes[] = {
    {"branches", AttributeKind::integers},
    {"slots", AttributeKind::space},
    {"biases", AttributeKind::flag, defaults_to(0)},
    {"activation", AttributeKind::word, defaults_to("none"), kActivationWordsOrNone},
    {"scale", AttributeKind::real, defaults_to(1.0)},
    {"eps", AttributeKind::real, Presence::optional},
    {"residual_first", AttributeKind::flag, defaults_to(0)}};
}  // namespace
extern const Operator kGroupedLinear;
const Operator kGroupedLinear{.name = "grouped_linear",
                              .infer = infer_grouped_linear,
                              .flow = flow_cell,
                              .cost = cost_grouped_linear,
                              .role = Role::grouped,
                              .extras = "gain multiply residual",
                              .attributes = kGroupedLinearAttributes,
                              .absorbs = "gain scale activation multiply residual"};
}  // namespace stormcell
