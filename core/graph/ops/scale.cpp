// scale(x; factor) -> factor * x.
#include "core/graph/operator.h"

namespace stormcell {
namespace {
std::vector<Result> infer(const Graph& g, const Node& n) {
  expect_inputs(g, n, 1, 1);
  expect_real(g, n, 0);
  n.attributes.real("factor");
  return {{input_type(g, n, 0)}};
}
}  // namespace
extern const Operator kScale;
const Operator kScale{"scale", infer, flow_cell, cost_elementwise};
}  // namespace stormcell
