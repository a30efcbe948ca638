// resize(x [S, H, W, C]; height, width, mode = nearest bilinear) -> [S, height, width, C]. Pixels are squares: the
// middle of output pixel i lies at (i + 0.5) H / height. bilinear weighs the two nearest middles along each side, at
// the border the border's pixel alone (PyTorch's align_corners = False, without antialiasing); nearest takes pixel
// floor(i H / height).
#include "core/graph/operator.h"

namespace stormcell {
namespace {
std::vector<Result> infer_resize(const Graph& g, const Node& n) {
  expect_inputs(n, 1, 1);
  expect_cells(g, n, 0, 3);
  const TensorType& x = input_type(g, n, 0);
  const int64_t height = n.attributes.integer("height"), width = n.attributes.integer("width");
  constexpr int64_t kMost = 1 << 20;  // products of two extents stay far from overflow
  if (height < 1 || width < 1 || height > kMost || width > kMost || x.content[0].constant() > kMost ||
      x.content[1].constant() > kMost)
    operator_error(n, "extents of 1 to " + std::to_string(kMost),
                   std::to_string(height) + " x " + std::to_string(width) + " of " + type_text(g, x));
  return {{{DType::f32, x.space, {height, width, x.content[2]}}}};
}
Cost cost_resize(const CostContext& c, const Node& n) {
  Cost cost = cost_of_traffic(c, n);
  constexpr double kBilinear = 8;  // four products, three sums, and what the weights take
  if (n.attributes.word("mode") == "bilinear") cost.flops = kBilinear * value_bytes(c, n.outputs[0]) / 4;
  return cost;
}
constexpr AttributeRule kResizeAttributes[] = {{"height", AttributeKind::integer},
                                               {"width", AttributeKind::integer},
                                               {"mode", AttributeKind::word, Presence::required, "nearest bilinear"}};
}  // namespace
extern const Operator kResize;
const Operator kResize{.name = "resize",
                       .infer = infer_resize,
                       .flow = flow_cell,
                       .cost = cost_resize,
                       .role = Role::pointwise,
                       .attributes = kResizeAttributes};
}  // namespace stormcell
