// pool(x [S, H, W, C]; kind = average max global_average, size, stride) -> [S, H', W', C], or [S, C] for global_average.
#include "core/graph/operator.h"

namespace stormcell {
namespace {
std::vector<Result> infer(const Graph& g, const Node& n) {
  expect_inputs(g, n, 1, 1);
  expect_cells(g, n, 0, 3);
  const TensorType& x = input_type(g, n, 0);
  const std::string& kind = n.attributes.word("kind");
  if (kind == "global_average") return {{{x.dtype, x.space, {x.content[2]}}}};
  expect_attribute(g, n, "size");
  expect_attribute(g, n, "stride");
  const int64_t size = n.attributes.integer("size"), stride = n.attributes.integer("stride");
  const int64_t h = x.content[0].constant(), w = x.content[1].constant();
  if (size < 1 || stride < 1 || size > h || size > w) operator_error(g, n, "a window inside " + type_text(g, x), std::to_string(size));
  return {{{x.dtype, x.space, {(h - size) / stride + 1, (w - size) / stride + 1, x.content[2]}}}};
}
constexpr AttributeRule kAttributes[] = {{"kind", AttributeKind::word, Presence::required, "average max global_average"},
                                         {"size", AttributeKind::integer, Presence::optional},
                                         {"stride", AttributeKind::integer, Presence::optional}};
}  // namespace
extern const Operator kPool;
const Operator kPool{.name = "pool", .infer = infer, .flow = flow_cell, .cost = cost_elementwise, .attributes = kAttributes};
}  // namespace stormcell
