// multiply(a [S, ...], b [S, ...], [S] or [S, 1]) -> [S, ...]: elementwise, or each row of a by one number, in f32.
#include "core/graph/operator.h"

namespace stormcell {
namespace {
std::vector<Result> infer_multiply(const Graph& g, const Node& n) {
  expect_inputs(n, 2, 2);
  expect_real(g, n, 0);
  expect_real(g, n, 1);
  expect_space(g, n, 1, input_type(g, n, 0).space);
  const std::vector<Dim>& factors = input_type(g, n, 1).content;
  if (!factors.empty() && factors != std::vector<Dim>{1}) expect_content(g, n, 1, input_type(g, n, 0).content);
  return {{input_type(g, n, 0)}};
}
}  // namespace
extern const Operator kMultiply;
const Operator kMultiply{.name = "multiply",
                         .infer = infer_multiply,
                         .flow = flow_cell,
                         .cost = cost_elementwise,
                         .role = Role::pointwise,
                         .folds_as = "multiply"};
}  // namespace stormcell
