// grouped_linear(x, decision, w_0 [n, k], w_1, ..., with biases=1 b_0 [n], b_1, ...; extras) -> [slots, n]: one product for all branches of
// a decision, each slot with its branch's weights and bias. x lives over the slots, or over the decision's own cells: then each slot reads
// its cell's row. attributes: branches (list: which branch each w and each b belongs to; slots of absent ones are not written), biases,
// activation, scale. extras: gain [k] with eps as in linear; multiply, residual [slots, n].
#include "core/graph/operator.h"
#include "core/graph/roles.h"

namespace stormcell {
namespace {
std::vector<Result> infer(const Graph& g, const Node& n) {
  expect_cells(g, n, 0, 1);
  expect_decision(g, n, 1);
  const Value& decision = g.value(n.inputs[1]);
  const auto& branches = n.attributes.list("branches");
  const size_t weights = branches.size(), fixed = 2 + owned_inputs(n);
  expect_inputs(n, fixed + extra_count(n), fixed + extra_count(n));
  const SpaceId slots(n.attributes.integer("slots"));
  if (g.space(slots).decision != n.inputs[1] || g.space(slots).branch != kAllBranches)
    operator_error(n, "the slots of its decision", "space " + to_text(slots));
  const TensorType& x = input_type(g, n, 0);
  if (x.space != slots && x.space != decision.type.space) operator_error(n, "x over the decision's slots or cells", type_text(g, x));
  if (weights == 0) operator_error(n, "at least one branch", "none");
  const TensorType& first = input_type(g, n, 2);
  for (size_t i = 0; i < weights; ++i) {
    const TensorType& w = input_type(g, n, 2 + i);
    if (branches[i] < 0 || branches[i] >= decision.branches)
      operator_error(n, "branches below " + std::to_string(decision.branches), std::to_string(branches[i]));
    if (w.space != kNone || w.content.size() != 2 || w.content[1] != x.content[0] || w.content != first.content)
      operator_error(n, "weights alike, [n, " + x.content[0].to_text(g.symbols) + "]", type_text(g, w));
    expect_weight(g, n, 2 + i);
    if (w.dtype != first.dtype) operator_error(n, "weights of one format, " + type_text(g, first), type_text(g, w));
  }
  for (size_t i = 2 + weights; i < fixed; ++i) expect_shared(g, n, i, {first.content[0]});
  if (const auto i = extra_input(n, "gain", fixed)) {
    expect_shared(g, n, *i, {x.content[0]});
    expect_attribute(n, "eps");
  }
  for (const char* extra : {"multiply", "residual"})
    if (const auto i = extra_input(n, extra, fixed)) {
      expect_content(g, n, *i, {first.content[0]});
      expect_space(g, n, *i, slots);
      expect_real(g, n, *i);
    }
  return {{{DType::f32, slots, {first.content[0]}}}};
}
Cost cost(const CostContext& c, const Node& n) {
  // Only branches with rows are read.
  Cost cost;
  const SpaceId slots(n.attributes.integer("slots"));
  const TensorType& w = c.graph.value(n.inputs[2]).type;
  const double rows = c.rows(slots), k = static_cast<double>(w.content[1].evaluate(c.bindings)),
               out = static_cast<double>(w.content[0].evaluate(c.bindings));
  double present = 0;
  for (const int64_t b : n.attributes.list("branches")) present += std::min(1.0, c.load(n.inputs[1], static_cast<int32_t>(b)));
  cost.flops = 2 * rows * k * out;
  cost.weight_bytes = present * k * out * static_cast<double>(element_size(w.dtype));
  if (flag_of(n, "biases")) {
    const TensorType& bias = c.graph.value(n.inputs[2 + branches_sent(c.graph, n).size()]).type;
    cost.weight_bytes += present * out * static_cast<double>(element_size(bias.dtype));
  }
  cost.activation_bytes = rows * (k + out) * 4;
  return cost;
}
constexpr AttributeRule kAttributes[] = {{"branches", AttributeKind::integers},
                                         {"slots", AttributeKind::space},
                                         {"biases", AttributeKind::flag, defaults_to(0)},
                                         {"activation", AttributeKind::word, defaults_to("none"), kActivationWordsOrNone},
                                         {"scale", AttributeKind::real, defaults_to(1.0)},
                                         {"eps", AttributeKind::real, Presence::optional}};
}  // namespace
extern const Operator kGroupedLinear;
const Operator kGroupedLinear{.name = "grouped_linear",
                              .infer = infer,
                              .flow = flow_cell,
                              .cost = cost,
                              .role = Role::grouped,
                              .extras = "gain multiply residual",
                              .attributes = kAttributes,
                              .absorbs = "gain scale activation multiply residual"};
}  // namespace stormcell
