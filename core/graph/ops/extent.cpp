// extent(; extent = "P+T") -> scalar i32: the value of a symbolic extent in this batch.
#include "core/graph/operator.h"

namespace stormcell {
namespace {
std::vector<Result> infer_extent(const Graph&, const Node& n) {
  expect_inputs(n, 0, 0);
  return {{{DType::i32, kNone, {}}}};
}
constexpr AttributeRule kExtentAttributes[] = {{"extent", AttributeKind::extent}};
}  // namespace
extern const Operator kExtent;
const Operator kExtent{
    .name = "extent", .infer = infer_extent, .flow = flow_cell, .cost = cost_none, .attributes = kExtentAttributes};
}  // namespace stormcell
