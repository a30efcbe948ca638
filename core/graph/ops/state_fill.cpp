// state_fill(state; value): every element becomes `value`.
#include "core/graph/operator.h"

namespace stormcell {
namespace {
std::vector<Result> infer_state_fill(const Graph& g, const Node& n) {
  expect_inputs(n, 1, 1);
  if (g.value(n.inputs[0]).kind != ValueKind::state) operator_error(n, "a state", type_text(g, input_type(g, n, 0)));
  return {};
}
constexpr AttributeRule kStateFillAttributes[] = {{"value", AttributeKind::real}};
}  // namespace
extern const Operator kStateFill;
const Operator kStateFill{.name = "state_fill",
                          .infer = infer_state_fill,
                          .flow = flow_cell,
                          .cost = cost_of_traffic,
                          .role = Role::state,
                          .attributes = kStateFillAttributes};
}  // namespace stormcell
