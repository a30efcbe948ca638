// zeros(; space, shape) -> f32 [space, shape...]: 0 for each cell of a space. It replaces a gather that no branch is
// left to.
#include "core/graph/operator.h"

namespace stormcell {
namespace {
std::vector<Result> infer_zeros(const Graph&, const Node& n) {
  expect_inputs(n, 0, 0);
  const SpaceId space(n.attributes.integer("space"));
  std::vector<Dim> content;
  for (const int64_t extent : n.attributes.list("shape")) {
    if (extent < 1) operator_error(n, "extents of 1 or more", std::to_string(extent));
    content.emplace_back(extent);
  }
  return {{{DType::f32, space, std::move(content)}}};
}
Cost cost_zeros(const CostContext& c, const Node& n) {
  Cost cost;
  cost.activation_bytes = value_bytes(c, n.outputs[0]);
  return cost;
}
constexpr AttributeRule kZerosAttributes[] = {{"space", AttributeKind::space}, {"shape", AttributeKind::integers}};
}  // namespace
extern const Operator kZeros;
const Operator kZeros{
    .name = "zeros", .infer = infer_zeros, .flow = flow_cell, .cost = cost_zeros, .attributes = kZerosAttributes};
}  // namespace stormcell
