// rms_norm(x [S, d], gain [d]; eps) -> [S, d]: x / sqrt(mean(x^2) + eps) * gain.
#include "core/graph/operator.h"

namespace stormcell {
namespace {
std::vector<Result> infer_rms_norm(const Graph& g, const Node& n) {
  expect_inputs(n, 2, 2);
  expect_cells(g, n, 0, 1);
  expect_shared(g, n, 1, input_type(g, n, 0).content);
  return {{input_type(g, n, 0)}};
}
constexpr AttributeRule kRmsNormAttributes[] = {{"eps", AttributeKind::real}};
}  // namespace
extern const Operator kRmsNorm;
const Operator kRmsNorm{.name = "rms_norm",
                        .infer = infer_rms_norm,
                        .flow = flow_cell,
                        .cost = cost_elementwise,
                        .role = Role::pointwise,
                        .attributes = kRmsNormAttributes,
                        .folds_as = "gain"};
}  // namespace stormcell
