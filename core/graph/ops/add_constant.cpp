// add_constant(x i32; value) -> x + value.
#include "core/graph/operator.h"

namespace stormcell {
namespace {
std::vector<Result> infer(const Graph& g, const Node& n) {
  expect_inputs(g, n, 1, 1);
  expect_integer(g, n, 0);
  n.attributes.integer("value");
  return {{input_type(g, n, 0)}};
}
}  // namespace
extern const Operator kAddConstant;
const Operator kAddConstant{"add_constant", infer, flow_cell, cost_elementwise};
}  // namespace stormcell
