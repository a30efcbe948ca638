// state_put(state [C, ...], x [S, ...]; extras at [parents] i32): C and S lie below one space, C dense, S dense or
// ragged; the rows of each parent in x become its rows of the state from its place `at` on (0 without), where they must
// fit. A state in bf16 takes rows in f32, rounded. Key-value caches and generated ids are kept so.
#include "core/graph/operator.h"

namespace stormcell {
namespace {
std::vector<Result> infer_state_put(const Graph& g, const Node& n) {
  expect_inputs(n, 2 + extra_count(n), 2 + extra_count(n));
  expect_activation(g, n, 1);
  const TensorType &state = input_type(g, n, 0), &x = input_type(g, n, 1);
  if (g.value(n.inputs[0]).kind != ValueKind::state) operator_error(n, "a state", type_text(g, state));
  if (state.space == kNone || x.space == kNone || g.space(state.space).kind != SpaceKind::dense ||
      !is_grouped(g, x.space) || g.space(state.space).parent != g.space(x.space).parent || state.content != x.content ||
      (state.dtype != x.dtype && !(format_of(state.dtype).rounds_rows && x.dtype == DType::f32)))
    operator_error(n, "rows alike below one space, the state's dense", type_text(g, state) + " and " + type_text(g, x));
  if (const auto i = extra_input(n, "at")) {
    expect_one_integer(g, n, *i);
    expect_space(g, n, *i, g.space(state.space).parent);
  }
  return {};
}
Flow flow_state_put(const Graph& g, const Node& n, size_t index) {
  return {index == 0 ? Mix::cell : Mix::within, g.space(input_type(g, n, 0).space).parent};
}
Cost cost_state_put(const CostContext& c, const Node& n) {
  Cost cost;
  cost.activation_bytes = 2 * value_bytes(c, n.inputs[1]);
  return cost;
}
}  // namespace
extern const Operator kStatePut;
const Operator kStatePut{.name = "state_put",
                         .infer = infer_state_put,
                         .flow = flow_state_put,
                         .cost = cost_state_put,
                         .role = Role::state,
                         .extras = "at",
                         .keeps_rows = true};
}  // namespace stormcell
