// rotary(x [S, heads*d], positions [S] i32; heads, theta) -> like x: each head's halves rotated by position-dependent
// angles (RoPE).
#include "core/graph/operator.h"

namespace stormcell {
namespace {
std::vector<Result> infer_rotary(const Graph& g, const Node& n) {
  expect_inputs(n, 2, 2);
  expect_cells(g, n, 0, 1);
  expect_one_integer(g, n, 1);
  expect_space(g, n, 1, input_type(g, n, 0).space);
  const int64_t heads = n.attributes.integer("heads"), width = input_type(g, n, 0).content[0].constant();
  if (heads <= 0 || heads > width || width % (2 * heads) != 0)
    operator_error(n, "a width of " + std::to_string(heads) + " even heads", std::to_string(width));
  return {{input_type(g, n, 0)}};
}
constexpr AttributeRule kRotaryAttributes[] = {{"heads", AttributeKind::integer}, {"theta", AttributeKind::real}};
}  // namespace
extern const Operator kRotary;
const Operator kRotary{.name = "rotary",
                       .infer = infer_rotary,
                       .flow = flow_cell,
                       .cost = cost_elementwise,
                       .role = Role::pointwise,
                       .attributes = kRotaryAttributes};
}  // namespace stormcell
