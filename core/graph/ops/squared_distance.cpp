// squared_distance(x [S, d], centres [k, d]; reciprocal = false) -> [S, k]: the squared distance of each row to each of
// k centres, summed over d; with `reciprocal` one over it, so that the nearest centre has the largest score, and over
// 1e-30 at least, so that the score of a row in a centre is finite.
#include "core/graph/operator.h"

namespace stormcell {
namespace {
std::vector<Result> infer_squared_distance(const Graph& g, const Node& n) {
  expect_inputs(n, 2, 2);
  expect_cells(g, n, 0, 1);
  const TensorType &x = input_type(g, n, 0), &centres = input_type(g, n, 1);
  if (centres.space != kNone || centres.content.size() != 2 || centres.content[1] != x.content[0])
    operator_error(n, "centres [k, " + x.content[0].to_text(g.symbols) + "]", type_text(g, centres));
  expect_weight(g, n, 1);
  return {{{DType::f32, x.space, {centres.content[0]}}}};
}
Cost cost_squared_distance(const CostContext& c, const Node& n) {
  Cost cost = cost_of_traffic(c, n);
  constexpr double kEach = 3;  // a difference, a product, a sum
  cost.flops = kEach * value_bytes(c, n.inputs[0]) / 4 *
               static_cast<double>(c.graph.value(n.inputs[1]).type.content[0].constant());
  return cost;
}
constexpr AttributeRule kSquaredDistanceAttributes[] = {{"reciprocal", AttributeKind::flag, defaults_to(0)}};
}  // namespace
extern const Operator kSquaredDistance;
const Operator kSquaredDistance{.name = "squared_distance",
                                .infer = infer_squared_distance,
                                .flow = flow_cell,
                                .cost = cost_squared_distance,
                                .role = Role::pointwise,
                                .attributes = kSquaredDistanceAttributes};
}  // namespace stormcell
