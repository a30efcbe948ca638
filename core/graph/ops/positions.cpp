// positions(mask [S] i32; extras from [parents] i32) -> [S] i32: the number of unmasked cells before this one in its
// parent, counted from the parent's `from` on (0 without); masked cells give 1, as transformers does for left padding.
#include "core/graph/operator.h"

namespace stormcell {
namespace {
std::vector<Result> infer_positions(const Graph& g, const Node& n) {
  expect_inputs(n, 1 + extra_count(n), 1 + extra_count(n));
  expect_one_integer(g, n, 0);
  if (!is_grouped(g, input_type(g, n, 0).space))
    operator_error(n, "flags over cells that have parents", type_text(g, input_type(g, n, 0)));
  if (const auto i = extra_input(n, "from")) {
    expect_one_integer(g, n, *i);
    expect_space(g, n, *i, g.space(input_type(g, n, 0).space).parent);
  }
  return {{input_type(g, n, 0)}};
}
Flow flow_positions(const Graph& g, const Node& n, size_t index) {
  return {index == 0 ? Mix::before : Mix::within, g.space(input_type(g, n, 0).space).parent};
}
}  // namespace
extern const Operator kPositions;
const Operator kPositions{
    .name = "positions", .infer = infer_positions, .flow = flow_positions, .cost = cost_elementwise, .extras = "from"};
}  // namespace stormcell
