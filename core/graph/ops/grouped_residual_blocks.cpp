// grouped_residual_blocks(x [.., H, W, C], decision, and for each block w of all branches [C, k, k, C], their b [C], v
// [C, k, k, C] and d [C]) -> [slots, H, W, C]: each slot's map goes through the residual_blocks of its branch. x and
// slots: as grouped_linear has them. attributes: branches, slots.
#include "core/graph/ops/grouped.h"
#include "core/graph/ops/residual_chain.h"

namespace stormcell {
namespace {
std::vector<Result> infer_grouped_residual_blocks(const Graph& g, const Node& n) {
  expect_cells(g, n, 0, 3);
  const size_t branches = n.attributes.list("branches").size(),
               of_block = kInputsOfBlock * std::max<size_t>(branches, 1);
  const size_t weights = n.inputs.size() - 2, blocks = weights / of_block;
  if (n.inputs.size() < 2 || weights % of_block != 0 || blocks < 1 || blocks > kMostBlocks)
    operator_error(n, "four weights of each branch for each block", std::to_string(n.inputs.size()) + " inputs");
  const SpaceId slots = expect_grouped(g, n, kInputsOfBlock * blocks);
  expect_blocks(g, n, 2, n.inputs.size(), branches);
  return {{{DType::f32, slots, input_type(g, n, 0).content}}};
}
Cost cost_grouped_residual_blocks(const CostContext& c, const Node& n) {
  Cost cost;
  const size_t convolutions = (n.inputs.size() - 2) / 2 / n.attributes.list("branches").size();
  cost.flops = static_cast<double>(convolutions) * convolution_flops(c, n, 2);
  cost.weight_bytes = grouped_weight_bytes(c, n);
  cost.activation_bytes = 2 * value_bytes(c, n.outputs[0]);
  return cost;
}
constexpr AttributeRule kGroupedResidualBlocksAttributes[] = {{"branches", AttributeKind::integers},
                                                              {"slots", AttributeKind::space}};
}  // namespace
extern const Operator kGroupedResidualBlocks;
const Operator kGroupedResidualBlocks{.name = "grouped_residual_blocks",
                                      .infer = infer_grouped_residual_blocks,
                                      .flow = flow_cell,
                                      .cost = cost_grouped_residual_blocks,
                                      .role = Role::grouped,
                                      .attributes = kGroupedResidualBlocksAttributes};
}  // namespace stormcell
