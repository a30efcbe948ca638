// residual_blocks(x [S, H, W, C], and for each block w [C, k, k, C], b [C], v [C, k, k, C], d [C]) -> like x, channels
// last: block after block x + v * relu(w * x + b) + d, convolutions with an odd k, padded so that they keep the
// extents. As one step it computes a chain of conv2d with activation=relu and conv2d with residual.
#include "core/graph/ops/residual_chain.h"

namespace stormcell {
namespace {
std::vector<Result> infer_residual_blocks(const Graph& g, const Node& n) {
  expect_inputs(n, 1 + kInputsOfBlock, 1 + kInputsOfBlock * kMostBlocks);
  expect_cells(g, n, 0, 3);
  if ((n.inputs.size() - 1) % kInputsOfBlock != 0)
    operator_error(n, "four weights for each block", std::to_string(n.inputs.size() - 1));
  expect_blocks(g, n, 1, n.inputs.size(), 1);
  return {{input_type(g, n, 0)}};
}
Cost cost_residual_blocks(const CostContext& c, const Node& n) {
  Cost cost = cost_of_traffic(c, n);
  cost.flops = static_cast<double>((n.inputs.size() - 1) / 2) * convolution_flops(c, n, 1);
  return cost;
}
}  // namespace
extern const Operator kResidualBlocks;
const Operator kResidualBlocks{.name = "residual_blocks",
                               .infer = infer_residual_blocks,
                               .flow = flow_cell,
                               .cost = cost_residual_blocks,
                               .role = Role::pointwise,
                               .grouped_as = "grouped_residual_blocks"};
}  // namespace stormcell
