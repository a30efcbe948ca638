// argmax(x [S, n]) -> [S] i32: the index of the largest entry, the lowest among equals.
#include "core/graph/operator.h"

namespace stormcell {
namespace {
std::vector<Result> infer_argmax(const Graph& g, const Node& n) {
  expect_inputs(n, 1, 1);
  expect_cells(g, n, 0, 1);
  return {{{DType::i32, input_type(g, n, 0).space, {}}}};
}
}  // namespace
extern const Operator kArgmax;
const Operator kArgmax{
    .name = "argmax", .infer = infer_argmax, .flow = flow_cell, .cost = cost_of_traffic, .role = Role::pointwise};
}  // namespace stormcell
