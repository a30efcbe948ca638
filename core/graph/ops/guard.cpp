// guard(predicate scalar i32; pass) {taken} {fallback} -> outputs: when the predicate is not 0 the taken body runs,
// else the fallback, which computes the same outputs for any input. Without an input the taken body gives the predicate
// itself, as its last value: it has run when that is known. The choice commits then: on a miss every row of a state
// that the taken body wrote is what it was before the guard, before the fallback begins. `pass` names the optimisation
// that put the guard there.
#include "core/graph/operator.h"

#include "core/base/counted.h"

namespace stormcell {
namespace {
std::vector<Result> infer_guard(const Graph& g, const Node& n) {
  expect_inputs(n, 0, 1);
  const size_t late = n.inputs.empty() ? 1 : 0;
  if (n.bodies.size() != 2 || n.yields.size() != 2 || n.yields[0].size() != n.yields[1].size() + late)
    operator_error(n, "two bodies that give as many values", counted(std::ssize(n.bodies), "body"));
  const TensorType& predicate = late ? g.value(n.yields[0].back()).type : input_type(g, n, 0);
  if (predicate != TensorType{DType::i32, kNone, {}})
    operator_error(n, "a scalar i32 as predicate", type_text(g, predicate));
  std::vector<Result> results;
  for (size_t i = 0; i < n.yields[1].size(); ++i) {
    for (const size_t body : {size_t{0}, size_t{1}})
      if (const ValueKind kind = g.value(n.yields[body][i]).kind;
          kind == ValueKind::weight || kind == ValueKind::decision)
        operator_error(n, "bodies that give activations", kind == ValueKind::weight ? "a weight" : "a decision");
    const TensorType &a = g.value(n.yields[0][i]).type, &b = g.value(n.yields[1][i]).type;
    if (a != b) operator_error(n, "bodies that give the same types, " + type_text(g, a), type_text(g, b));
    results.push_back({a});
  }
  return results;
}
constexpr AttributeRule kGuardAttributes[] = {{"pass", AttributeKind::word, defaults_to("")}};
}  // namespace
extern const Operator kGuard;
const Operator kGuard{.name = "guard",
                      .infer = infer_guard,
                      .flow = flow_cell,
                      .cost = cost_none,
                      .role = Role::guard,
                      .attributes = kGuardAttributes};
}  // namespace stormcell
