// repeat(; most = extent) {body}: runs the body until the scalar it yields is not 0, at most `most` times. States carry
// values from one turn to the next.
#include "core/graph/operator.h"

#include "core/base/counted.h"

namespace stormcell {
namespace {
std::vector<Result> infer_repeat(const Graph& g, const Node& n) {
  expect_inputs(n, 0, 0);
  if (n.bodies.size() != 1 || n.yields.size() != 1 || n.yields[0].size() != 1)
    operator_error(n, "one body that gives the stop predicate", counted(std::ssize(n.bodies), "body"));
  const TensorType& stop = g.value(n.yields[0][0]).type;
  if (stop.dtype != DType::i32 || stop.space != kNone || !stop.content.empty())
    operator_error(n, "a scalar i32 as stop", type_text(g, stop));
  return {};
}
constexpr AttributeRule kRepeatAttributes[] = {{"most", AttributeKind::extent}};
}  // namespace
extern const Operator kRepeat;
const Operator kRepeat{.name = "repeat",
                       .infer = infer_repeat,
                       .flow = flow_cell,
                       .cost = cost_none,
                       .role = Role::repeat,
                       .attributes = kRepeatAttributes};
}  // namespace stormcell
