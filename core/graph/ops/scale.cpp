// scale(x; factor) -> factor * x.
#include "core/graph/operator.h"

namespace stormcell {
namespace {
std::vector<Result> infer_scale(const Graph& g, const Node& n) {
  expect_inputs(n, 1, 1);
  expect_real(g, n, 0);
  return {{input_type(g, n, 0)}};
}
constexpr AttributeRule kScaleAttributes[] = {{"factor", AttributeKind::real}};
}  // namespace
extern const Operator kScale;
const Operator kScale{.name = "scale",
                      .infer = infer_scale,
                      .flow = flow_cell,
                      .cost = cost_elementwise,
                      .role = Role::pointwise,
                      .attributes = kScaleAttributes,
                      .folds_as = "scale"};
}  // namespace stormcell
