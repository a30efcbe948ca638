// unfold(x [S, H, W, C]; space, height, width, stride, border = shift, flat = 0) -> [space, height, width, C]; flat:
// [space, height * width * C], the same numbers in the same order. Cuts each picture into overlapping patches, which
// become cells: those of `space` below S, row by row of the grid. The last row and column of the grid are shifted back
// to end with the picture; or, with border = cut, pixels behind the last whole step are in no patch
// (core/graph/patch_grid.h). `space` is dense below S; or, where S is a branch, the members of a dense space of all
// pictures.
#include "core/graph/patch_grid.h"

namespace stormcell {
namespace {
std::vector<Result> infer_unfold(const Graph& g, const Node& n) {
  expect_inputs(n, 1, 1);
  expect_cells(g, n, 0, 3);
  const TensorType& x = input_type(g, n, 0);
  const SpaceId space(n.attributes.integer("space"));
  if (g.space(space).parent != x.space)
    operator_error(n, "a space of cells below those of x", "space " + to_text(space));
  const PatchGrid grid = grid_of_unfold(g, n);
  if (!grid.is_valid())
    operator_error(n, "patches inside " + type_text(g, x) + " and a stride of 1 or more",
                   std::to_string(grid.patch_height) + " x " + std::to_string(grid.patch_width) + ", stride " +
                       std::to_string(grid.stride));
  expect_patches(g, n, space, grid);
  if (flag_of(n, "flat"))
    return {{{DType::f32, space, {grid.patch_height * grid.patch_width * x.content[2].constant()}}}};
  return {{{DType::f32, space, {grid.patch_height, grid.patch_width, x.content[2]}}}};
}
int64_t columns_unfold(const Graph& g, const Node& n) { return grid_of_unfold(g, n).columns(); }
constexpr AttributeRule kUnfoldAttributes[] = {{"space", AttributeKind::space},
                                               {"height", AttributeKind::integer},
                                               {"width", AttributeKind::integer},
                                               {"stride", AttributeKind::integer},
                                               {"border", AttributeKind::word, defaults_to("shift"), "shift cut"},
                                               {"flat", AttributeKind::flag, defaults_to(0)}};
}  // namespace
extern const Operator kUnfold;
const Operator kUnfold{.name = "unfold",
                       .infer = infer_unfold,
                       .flow = flow_within,
                       .cost = cost_of_traffic,
                       .role = Role::unfold,
                       .attributes = kUnfoldAttributes,
                       .columns = columns_unfold};
}  // namespace stormcell
