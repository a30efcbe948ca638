// branches_full(decision; branches) -> scalar i32: 1 when each of the listed branches got every cell that came. The predicate of constant
// decisions, beside branches_empty for those that get none.
#include "core/graph/operator.h"

namespace stormcell {
namespace {
std::vector<Result> infer(const Graph& g, const Node& n) {
  expect_inputs(n, 1, 1);
  expect_decision(g, n, 0);
  for (const int64_t b : n.attributes.list("branches"))
    if (b < 0 || b >= g.value(n.inputs[0]).branches) operator_error(n, "branches of the decision", std::to_string(b));
  return {{{DType::i32, kNone, {}}}};
}
Flow flow(const Graph&, const Node&, size_t) { return {Mix::batch}; }
Cost cost(const CostContext&, const Node&) { return {}; }
constexpr AttributeRule kAttributes[] = {{"branches", AttributeKind::integers}};
}  // namespace
extern const Operator kBranchesFull;
const Operator kBranchesFull{.name = "branches_full", .infer = infer, .flow = flow, .cost = cost, .attributes = kAttributes};
}  // namespace stormcell
