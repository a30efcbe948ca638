// merge_cells(x [S, C]; space, height, width, order = columns) -> [space, 4 C]: the cells of S lie below their parents
// row by row of a grid of height x width; each square of two by two becomes a cell of `space`, below the same parents,
// row by row again. Its four rows follow one another column by column of the square (as published with Swin: 00, 10,
// 01, 11), or, with order = rows, row by row of it (00, 01, 10, 11).
#include "core/graph/operator.h"

namespace stormcell {
namespace {
constexpr int64_t kMostSide = 1 << 20;  // numbers of cells stay far from overflow

std::vector<Result> infer_merge_cells(const Graph& g, const Node& n) {
  expect_inputs(n, 1, 1);
  expect_cells(g, n, 0, 1);
  const TensorType& x = input_type(g, n, 0);
  const SpaceId space(n.attributes.integer("space"));
  const int64_t height = n.attributes.integer("height"), width = n.attributes.integer("width");
  const std::string sides = std::to_string(height) + " x " + std::to_string(width);
  if (height < 2 || width < 2 || height > kMostSide || width > kMostSide || height % 2 != 0 || width % 2 != 0)
    operator_error(n, "a grid of even sides", sides);
  const CellSpace &from = g.space(x.space), &to = g.space(space);
  if (from.kind != SpaceKind::dense || from.per_parent != Dim(height * width))
    operator_error(n, sides + " cells below each parent", type_text(g, x));
  if (to.kind != SpaceKind::dense || to.parent != from.parent || to.per_parent != Dim(height * width / 4))
    operator_error(
        n,
        "a space of " + std::to_string(height * width / 4) + " cells below each cell of " + g.space(from.parent).name,
        "space " + to_text(space));
  return {{{DType::f32, space, {4 * x.content[0].constant()}}}};
}
int64_t columns_merge_cells(const Graph&, const Node& n) { return n.attributes.integer("width") / 2; }
constexpr AttributeRule kMergeCellsAttributes[] = {
    {"space", AttributeKind::space},
    {"height", AttributeKind::integer},
    {"width", AttributeKind::integer},
    {"order", AttributeKind::word, defaults_to("columns"), "columns rows"}};
}  // namespace
extern const Operator kMergeCells;
const Operator kMergeCells{.name = "merge_cells",
                           .infer = infer_merge_cells,
                           .flow = flow_within_parent,
                           .cost = cost_of_traffic,
                           .attributes = kMergeCellsAttributes,
                           .columns = columns_merge_cells};
}  // namespace stormcell
