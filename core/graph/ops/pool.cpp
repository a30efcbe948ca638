// pool(x [S, H, W, C]; kind = average max global_average, size, stride, padding) -> [S, H', W', C], or [S, C] for
// global_average. Padding, at most half the size, never wins a maximum; in a mean it counts as zeros (PyTorch's
// defaults).
#include "core/graph/operator.h"

namespace stormcell {
namespace {
std::vector<Result> infer_pool(const Graph& g, const Node& n) {
  expect_inputs(n, 1, 1);
  expect_cells(g, n, 0, 3);
  const TensorType& x = input_type(g, n, 0);
  const std::string& kind = n.attributes.word("kind");
  if (kind == "global_average") return {{{x.dtype, x.space, {x.content[2]}}}};
  expect_attribute(n, "size");
  expect_attribute(n, "stride");
  const int64_t size = n.attributes.integer("size"), stride = n.attributes.integer("stride"),
                padding = integer_of(n, "padding");
  const int64_t h = x.content[0].constant(), w = x.content[1].constant();
  if (size < 1 || stride < 1 || size > h || size > w)
    operator_error(n, "a window inside " + type_text(g, x), std::to_string(size));
  if (padding < 0 || padding > size / 2)
    operator_error(n, "a padding of at most half the window", std::to_string(padding));
  return {{{x.dtype,
            x.space,
            {(h + 2 * padding - size) / stride + 1, (w + 2 * padding - size) / stride + 1, x.content[2]}}}};
}
constexpr AttributeRule kPoolAttributes[] = {
    {"kind", AttributeKind::word, Presence::required, "average max global_average"},
    {"size", AttributeKind::integer, Presence::optional},
    {"stride", AttributeKind::integer, Presence::optional},
    {"padding", AttributeKind::integer, defaults_to(0)}};
}  // namespace
extern const Operator kPool;
const Operator kPool{.name = "pool",
                     .infer = infer_pool,
                     .flow = flow_cell,
                     .cost = cost_elementwise,
                     .role = Role::pointwise,
                     .attributes = kPoolAttributes};
}  // namespace stormcell
