// add(a, b) -> elementwise, in f32 or i32.
#include "core/graph/operator.h"

namespace stormcell {
namespace {
std::vector<Result> infer_add(const Graph& g, const Node& n) {
  expect_inputs(n, 2, 2);
  expect_activation(g, n, 0);
  if (input_type(g, n, 0).dtype == DType::i32) {
    expect_integer(g, n, 1);
  } else {
    expect_real(g, n, 0);
    expect_real(g, n, 1);
  }
  expect_space(g, n, 1, input_type(g, n, 0).space);
  expect_content(g, n, 1, input_type(g, n, 0).content);
  return {{input_type(g, n, 0)}};
}
}  // namespace
extern const Operator kAdd;
const Operator kAdd{.name = "add",
                    .infer = infer_add,
                    .flow = flow_cell,
                    .cost = cost_elementwise,
                    .role = Role::pointwise,
                    .folds_as = "residual"};
}  // namespace stormcell
