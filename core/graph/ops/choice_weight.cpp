// choice_weight(decision; space) -> f32 [space]: the weight of the choice by which each cell of `space`, a branch or
// all slots of the decision, is there. It is the factor of a weighted gather as a value, for routers within branches
// and sums over several routers. With `branch`, `space` is the decision's own: the weight of each cell's choice of that
// branch, 0 for cells without it.
#include "core/graph/operator.h"

namespace stormcell {
namespace {
std::vector<Result> infer_choice_weight(const Graph& g, const Node& n) {
  expect_inputs(n, 1, 1);
  expect_decision(g, n, 0);
  const SpaceId space(n.attributes.integer("space"));
  if (n.attributes.has("branch")) {
    const Value& decision = g.value(n.inputs[0]);
    if (space != decision.type.space)
      operator_error(n, "the cells of its decision, " + g.space(decision.type.space).name, g.space(space).name);
    if (const int64_t b = n.attributes.integer("branch"); b < 0 || b >= decision.branches)
      operator_error(n, "a branch of its decision", std::to_string(b));
    return {{{DType::f32, space, {}}}};
  }
  if (g.space(space).kind != SpaceKind::routed || g.space(space).decision != n.inputs[0])
    operator_error(n, "a routed space of its decision", "space " + to_text(space));
  return {{{DType::f32, space, {}}}};
}
Flow flow_choice_weight(const Graph&, const Node&, size_t) { return {Mix::cell, kNone, false, true}; }
Cost cost_choice_weight(const CostContext& c, const Node& n) {
  Cost cost;
  cost.activation_bytes = 2 * value_bytes(c, n.outputs[0]);
  return cost;
}
constexpr AttributeRule kChoiceWeightAttributes[] = {{"space", AttributeKind::space},
                                                     {"branch", AttributeKind::integer, Presence::optional}};
}  // namespace
extern const Operator kChoiceWeight;
const Operator kChoiceWeight{.name = "choice_weight",
                             .infer = infer_choice_weight,
                             .flow = flow_choice_weight,
                             .cost = cost_choice_weight,
                             .attributes = kChoiceWeightAttributes};
}  // namespace stormcell
