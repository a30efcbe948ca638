// layer_norm(x [S, d], gain [d], bias [d]; eps) -> [S, d]: (x - mean(x)) / sqrt(variance(x) + eps) * gain + bias, with
// the biased variance.
#include "core/graph/operator.h"

namespace stormcell {
namespace {
std::vector<Result> infer_layer_norm(const Graph& g, const Node& n) {
  expect_inputs(n, 3, 3);
  expect_cells(g, n, 0, 1);
  for (const size_t i : {1, 2}) expect_shared(g, n, i, input_type(g, n, 0).content);
  return {{input_type(g, n, 0)}};
}
constexpr AttributeRule kLayerNormAttributes[] = {{"eps", AttributeKind::real}};
}  // namespace
extern const Operator kLayerNorm;
const Operator kLayerNorm{.name = "layer_norm",
                          .infer = infer_layer_norm,
                          .flow = flow_cell,
                          .cost = cost_elementwise,
                          .role = Role::pointwise,
                          .attributes = kLayerNormAttributes,
                          .grouped_as = "grouped_layer_norm"};
}  // namespace stormcell
