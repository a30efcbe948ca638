// window_attention(q [S, heads*d], k [S, heads*d], v [S, heads*e]; extras) -> [S, heads*e]: softmax(score(q, k) + bias)
// v among the cells of one window. The cells of S lie below their parents row by row of a grid of height x width;
// windows of window_height x window_width cut it, shift_height and shift_width places further than it begins
// (core/graph/window_grid.h). Cells that a shifted window has from both ends of the grid are no neighbours: their
// weight is 0. score: scale q . k, or, with cosine, scale_h q . k / (|q| |k|), norms at least 1e-12, scale_h =
// exp(min(scales[h], ln 100)). extras: bias [(2 window_height - 1) (2 window_width - 1), heads], by the place of the
// query less that of the key, row by row from (1 - window_height, 1 - window_width) on; scales [heads], with cosine.
#include "core/graph/window_grid.h"

namespace stormcell {

WindowGrid window_grid_of(const Node& node) {
  return {node.attributes.integer("height"),        node.attributes.integer("width"),
          node.attributes.integer("window_height"), node.attributes.integer("window_width"),
          integer_of(node, "shift_height"),         integer_of(node, "shift_width")};
}

namespace {
std::vector<Result> infer_window_attention(const Graph& g, const Node& n) {
  expect_inputs(n, 3 + extra_count(n), 3 + extra_count(n));
  for (const size_t i : {0, 1, 2}) expect_cells(g, n, i, 1);
  const TensorType &q = input_type(g, n, 0), &k = input_type(g, n, 1), &v = input_type(g, n, 2);
  for (const size_t i : {1, 2}) expect_space(g, n, i, q.space);
  const WindowGrid grid = window_grid_of(n);
  const auto sides = [](int64_t a, int64_t b) { return std::to_string(a) + " x " + std::to_string(b); };
  if (!grid.is_valid())
    operator_error(n, "windows that divide the grid and shifts below their sides",
                   sides(grid.height, grid.width) + " in windows of " + sides(grid.window_height, grid.window_width) +
                       ", shifted by " + sides(grid.shift_height, grid.shift_width));
  const CellSpace& space = g.space(q.space);
  if (space.kind != SpaceKind::dense || space.per_parent != Dim(grid.height * grid.width))
    operator_error(n, sides(grid.height, grid.width) + " cells below each parent", type_text(g, q));
  constexpr int64_t kMostHeads = 1 << 16;
  const int64_t heads = n.attributes.integer("heads");
  if (heads < 1 || heads > kMostHeads || q.content != k.content || q.content[0].constant() % heads != 0 ||
      v.content[0].constant() % heads != 0)
    operator_error(n, "widths that divide into " + std::to_string(heads) + " heads",
                   type_text(g, q) + ", " + type_text(g, k) + ", " + type_text(g, v));
  if (const auto i = extra_input(n, "bias")) expect_shared(g, n, *i, {grid.places(), heads});
  const auto scales = extra_input(n, "scales");
  if (scales) expect_shared(g, n, *scales, {heads});
  if (scales.has_value() != flag_of(n, "cosine"))
    operator_error(n, "scales with cosine, and with it alone", scales ? "scales" : "cosine");
  return {{{DType::f32, q.space, v.content}}};
}
Flow flow_window_attention(const Graph& g, const Node& n, size_t index) {
  const Value& v = g.value(n.inputs[index]);
  if (v.kind == ValueKind::weight) return {Mix::none};
  return index == 0 ? Flow{Mix::cell} : Flow{Mix::within, g.space(v.type.space).parent};
}
Cost cost_window_attention(const CostContext& c, const Node& n) {
  Cost cost = cost_of_traffic(c, n);
  const Graph& g = c.graph;
  const TensorType& q = g.value(n.inputs[0]).type;
  const double width = static_cast<double>(q.content[0].constant()) +
                       static_cast<double>(g.value(n.outputs[0]).type.content[0].constant());
  cost.flops = 2 * c.rows(q.space) * static_cast<double>(window_grid_of(n).cells()) * width;
  return cost;
}
constexpr AttributeRule kWindowAttentionAttributes[] = {{"heads", AttributeKind::integer},
                                                        {"height", AttributeKind::integer},
                                                        {"width", AttributeKind::integer},
                                                        {"window_height", AttributeKind::integer},
                                                        {"window_width", AttributeKind::integer},
                                                        {"shift_height", AttributeKind::integer, defaults_to(0)},
                                                        {"shift_width", AttributeKind::integer, defaults_to(0)},
                                                        {"scale", AttributeKind::real, defaults_to(1.0)},
                                                        {"cosine", AttributeKind::flag, defaults_to(0)}};
}  // namespace
extern const Operator kWindowAttention;
const Operator kWindowAttention{.name = "window_attention",
                                .infer = infer_window_attention,
                                .flow = flow_window_attention,
                                .cost = cost_window_attention,
                                .extras = "bias scales",
                                .attributes = kWindowAttentionAttributes};
}  // namespace stormcell
