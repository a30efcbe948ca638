// positions(mask [S] i32) -> [S] i32: the number of unmasked cells before this one in its parent; masked cells give 1, as
// transformers does for left padding.
#include "core/graph/operator.h"

namespace stormcell {
namespace {
std::vector<Result> infer(const Graph& g, const Node& n) {
  expect_inputs(n, 1, 1);
  expect_one_integer(g, n, 0);
  if (!is_grouped(g, input_type(g, n, 0).space)) operator_error(n, "flags over cells that have parents", type_text(g, input_type(g, n, 0)));
  return {{input_type(g, n, 0)}};
}
Flow flow(const Graph& g, const Node& n, size_t) { return {Mix::before, g.space(input_type(g, n, 0).space).parent}; }
}  // namespace
extern const Operator kPositions;
const Operator kPositions{.name = "positions", .infer = infer, .flow = flow, .cost = cost_elementwise};
}  // namespace stormcell
