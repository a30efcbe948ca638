// fold(y [S, h, w, C]; height, width, stride) -> [parent of S, height, width, C]: one picture of the patches below each
// parent, which lie as unfold cuts them (core/graph/patch_grid.h). A pixel in overlapping patches is the mean of all
// that hold it.
#include "core/graph/patch_grid.h"

namespace stormcell {
namespace {
std::vector<Result> infer_fold(const Graph& g, const Node& n) {
  expect_inputs(n, 1, 1);
  expect_cells(g, n, 0, 3);
  const TensorType& y = input_type(g, n, 0);
  const PatchGrid grid = grid_of_fold(g, n);
  if (!grid.is_valid() || grid.stride > std::min(grid.patch_height, grid.patch_width))
    operator_error(
        n, "a picture that patches " + type_text(g, y) + " cover",
        std::to_string(grid.height) + " x " + std::to_string(grid.width) + ", stride " + std::to_string(grid.stride));
  expect_patches(g, n, y.space, grid);
  return {{{DType::f32, g.space(y.space).parent, {grid.height, grid.width, y.content[2]}}}};
}
Cost cost_fold(const CostContext& c, const Node& n) {
  Cost cost = cost_of_traffic(c, n);
  cost.flops = (value_bytes(c, n.inputs[0]) + value_bytes(c, n.outputs[0])) / 4;
  return cost;
}
constexpr AttributeRule kFoldAttributes[] = {
    {"height", AttributeKind::integer}, {"width", AttributeKind::integer}, {"stride", AttributeKind::integer}};
}  // namespace
extern const Operator kFold;
const Operator kFold{
    .name = "fold", .infer = infer_fold, .flow = flow_within_parent, .cost = cost_fold, .attributes = kFoldAttributes};
}  // namespace stormcell
