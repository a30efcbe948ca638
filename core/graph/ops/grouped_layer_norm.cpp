// grouped_layer_norm(x [.., d], decision, gain_0 [d], gain_1, ..., bias_0 [d], bias_1, ...) -> [slots, d]: layer_norm
// with the gain and the bias of the branch that each row belongs to. x and slots: as grouped_linear has them.
// attributes: branches, slots, eps.
#include "core/graph/ops/grouped.h"

namespace stormcell {
namespace {
std::vector<Result> infer_grouped_layer_norm(const Graph& g, const Node& n) {
  expect_cells(g, n, 0, 1);
  const SpaceId slots = expect_grouped(g, n, 2);
  const std::vector<Dim>& content = input_type(g, n, 0).content;
  for (size_t i = 2; i < n.inputs.size(); ++i) expect_shared(g, n, i, content);
  return {{{DType::f32, slots, content}}};
}
Cost cost_grouped_layer_norm(const CostContext& c, const Node& n) {
  Cost cost;
  const double bytes = value_bytes(c, n.outputs[0]);
  cost.flops = bytes / 4;
  cost.weight_bytes = grouped_weight_bytes(c, n);
  cost.activation_bytes = 2 * bytes;
  return cost;
}
constexpr AttributeRule kGroupedLayerNormAttributes[] = {
    {"branches", AttributeKind::integers}, {"slots", AttributeKind::space}, {"eps", AttributeKind::real}};
}  // namespace
extern const Operator kGroupedLayerNorm;
const Operator kGroupedLayerNorm{.name = "grouped_layer_norm",
                                 .infer = infer_grouped_layer_norm,
                                 .flow = flow_cell,
                                 .cost = cost_grouped_layer_norm,
                                 .role = Role::grouped,
                                 .attributes = kGroupedLayerNormAttributes};
}  // namespace stormcell
