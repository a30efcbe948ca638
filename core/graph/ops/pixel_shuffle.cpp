// pixel_shuffle(x [S, H, W, C r^2]; factor = r) -> [S, H r, W r, C]: channel (c r + i) r + j of a pixel becomes channel
// c of the pixel at (i, j) among the r x r that it turns into, as in PyTorch.
#include "core/graph/operator.h"

namespace stormcell {
namespace {
std::vector<Result> infer_pixel_shuffle(const Graph& g, const Node& n) {
  expect_inputs(n, 1, 1);
  expect_cells(g, n, 0, 3);
  const TensorType& x = input_type(g, n, 0);
  const int64_t factor = n.attributes.integer("factor"), channels = x.content[2].constant();
  constexpr int64_t kMost = 1 << 10;
  if (factor < 1 || factor > kMost || channels % (factor * factor) != 0)
    operator_error(n, "a factor whose square divides the channels of " + type_text(g, x), std::to_string(factor));
  return {{{DType::f32,
            x.space,
            {x.content[0].constant() * factor, x.content[1].constant() * factor, channels / (factor * factor)}}}};
}
constexpr AttributeRule kPixelShuffleAttributes[] = {{"factor", AttributeKind::integer}};
}  // namespace
extern const Operator kPixelShuffle;
const Operator kPixelShuffle{.name = "pixel_shuffle",
                             .infer = infer_pixel_shuffle,
                             .flow = flow_cell,
                             .cost = cost_of_traffic,
                             .role = Role::pointwise,
                             .attributes = kPixelShuffleAttributes,
                             .in_place = true};
}  // namespace stormcell
