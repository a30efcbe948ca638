// residual_blocks(x [S, H, W, C], and for each block w [C, k, k, C], b [C], v [C, k, k, C], d [C]) -> like x, channels last: block after
// block x + v * relu(w * x + b) + d, convolutions with an odd k, padded so that they keep the extents. What a chain of conv2d with
// activation=relu and conv2d with residual computes, as one step.
#include "core/graph/operator.h"

namespace stormcell {
namespace {
constexpr size_t kOfBlock = 4;  // inputs

std::vector<Result> infer(const Graph& g, const Node& n) {
  constexpr size_t kMostBlocks = 4096;
  expect_inputs(n, 1 + kOfBlock, 1 + kOfBlock * kMostBlocks);
  expect_cells(g, n, 0, 3);
  const TensorType& x = input_type(g, n, 0);
  const Dim channels = x.content[2];
  if ((n.inputs.size() - 1) % kOfBlock != 0) operator_error(n, "four weights for each block", std::to_string(n.inputs.size() - 1));
  const TensorType& first = input_type(g, n, 1);
  const bool square = first.space == kNone && first.content.size() == 4 && first.content[1] == first.content[2] &&
                      first.content[1].constant() % 2 == 1 && first.content[0] == channels && first.content[3] == channels;
  if (!square) operator_error(n, "weights [C, k, k, C] with an odd k, of C = " + channels.to_text(g.symbols), type_text(g, first));
  for (size_t i = 1; i < n.inputs.size(); i += 2) {
    expect_weight(g, n, i);
    expect_shared(g, n, i, first.content);
    expect_shared(g, n, i + 1, {channels});
  }
  return {{x}};
}
Cost cost(const CostContext& c, const Node& n) {
  Cost cost = cost_of_traffic(c, n);
  const TensorType& w = c.graph.value(n.inputs[1]).type;
  const auto convolutions = static_cast<double>((n.inputs.size() - 1) / 2);
  cost.flops = convolutions * value_bytes(c, n.outputs[0]) / 4 * 2 *
               static_cast<double>(w.content[1].constant() * w.content[2].constant() * w.content[3].constant());
  return cost;
}
}  // namespace
extern const Operator kResidualBlocks;
const Operator kResidualBlocks{.name = "residual_blocks", .infer = infer, .flow = flow_cell, .cost = cost, .role = Role::pointwise};
}  // namespace stormcell
