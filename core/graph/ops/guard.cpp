// guard(predicate scalar i32) {taken} {fallback} -> outputs: when the predicate is not 0 the taken body runs, else the fallback, which
// computes the same outputs for any input. The choice commits at the region's end: states that a body writes are written to shadows
// until then, and nothing the fallback reads is overwritten before.
#include "core/graph/operator.h"

namespace stormcell {
namespace {
std::vector<Result> infer(const Graph& g, const Node& n) {
  expect_inputs(g, n, 1, 1);
  expect_integer(g, n, 0);
  expect_space(g, n, 0, kNone);
  if (n.bodies.size() != 2 || n.yields.size() != 2 || n.yields[0].size() != n.yields[1].size())
    operator_error(g, n, "two bodies that give as many values", std::to_string(n.bodies.size()) + " bodies");
  std::vector<Result> results;
  for (size_t i = 0; i < n.yields[0].size(); ++i) {
    const TensorType &a = g.value(n.yields[0][i]).type, &b = g.value(n.yields[1][i]).type;
    if (a != b) operator_error(g, n, "bodies that give the same types, " + type_text(g, a), type_text(g, b));
    results.push_back({a});
  }
  return results;
}
Cost cost(const CostContext&, const Node&) { return {}; }
}  // namespace
extern const Operator kGuard;
const Operator kGuard{"guard", infer, flow_cell, cost, true};
}  // namespace stormcell
