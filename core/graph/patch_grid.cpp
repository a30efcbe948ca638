#include "core/graph/patch_grid.h"

namespace stormcell {

PatchGrid grid_of_unfold(const Graph& graph, const Node& node) {
  const TensorType& x = input_type(graph, node, 0);
  return {x.content[0].constant(),           x.content[1].constant(),
          node.attributes.integer("height"), node.attributes.integer("width"),
          node.attributes.integer("stride"), word_of(node, "border") == "cut" ? PatchBorder::cut : PatchBorder::shift};
}

PatchGrid grid_of_fold(const Graph& graph, const Node& node) {
  const TensorType& patches = input_type(graph, node, 0);
  return {node.attributes.integer("height"), node.attributes.integer("width"), patches.content[0].constant(),
          patches.content[1].constant(), node.attributes.integer("stride")};
}

int64_t grid_columns(const Graph& graph, SpaceId space) {
  int64_t columns = 0;
  for (const Node& node : graph.nodes) {
    if (!node.op->columns || graph.dense_ancestor(graph.value(node.outputs[0]).type.space) != space) continue;
    const int64_t here = node.op->columns(graph, node);
    if (columns != 0 && columns != here) return 0;
    columns = here;
  }
  return columns;
}

void expect_patches(const Graph& graph, const Node& node, SpaceId space, const PatchGrid& grid) {
  const auto is_dense = [&](SpaceId s) { return s != kNone && graph.space(s).kind == SpaceKind::dense; };
  const SpaceId base = space != kNone && graph.holds_members(space) ? graph.space(space).base : space;
  if (!is_dense(base))
    operator_error(node, "a space with equally many patches below each picture", graph.space(space).name);
  if (const Dim& each = graph.space(base).per_parent; each != Dim(grid.patches()))
    operator_error(node,
                   std::to_string(grid.rows()) + " x " + std::to_string(grid.columns()) +
                       " patches below each picture of " + std::to_string(grid.height) + " x " +
                       std::to_string(grid.width),
                   each.to_text(graph.symbols) + " cells in " + graph.space(space).name);
}

}  // namespace stormcell
