// state_write(state, x): the state becomes x.
#include "core/graph/operator.h"

namespace stormcell {
namespace {
std::vector<Result> infer_state_write(const Graph& g, const Node& n) {
  expect_inputs(n, 2, 2);
  expect_activation(g, n, 1);
  if (g.value(n.inputs[0]).kind != ValueKind::state) operator_error(n, "a state", type_text(g, input_type(g, n, 0)));
  if (input_type(g, n, 0) != input_type(g, n, 1))
    operator_error(n, type_text(g, input_type(g, n, 0)), type_text(g, input_type(g, n, 1)));
  return {};
}
}  // namespace
extern const Operator kStateWrite;
const Operator kStateWrite{
    .name = "state_write", .infer = infer_state_write, .flow = flow_cell, .cost = cost_of_traffic, .role = Role::state};
}  // namespace stormcell
