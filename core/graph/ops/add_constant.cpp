// add_constant(x i32; value) -> x + value.
#include "core/graph/operator.h"

namespace stormcell {
namespace {
std::vector<Result> infer_add_constant(const Graph& g, const Node& n) {
  expect_inputs(n, 1, 1);
  expect_integer(g, n, 0);
  return {{input_type(g, n, 0)}};
}
constexpr AttributeRule kAddConstantAttributes[] = {{"value", AttributeKind::integer}};
}  // namespace
extern const Operator kAddConstant;
const Operator kAddConstant{.name = "add_constant",
                            .infer = infer_add_constant,
                            .flow = flow_cell,
                            .cost = cost_elementwise,
                            .role = Role::pointwise,
                            .attributes = kAddConstantAttributes};
}  // namespace stormcell
