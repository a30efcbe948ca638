// rms_norm(x [S, d], gain [d]; eps) -> [S, d]: x / sqrt(mean(x^2) + eps) * gain.
#include "core/graph/operator.h"

namespace stormcell {
namespace {
std::vector<Result> infer(const Graph& g, const Node& n) {
  expect_inputs(g, n, 2, 2);
  expect_cells(g, n, 0, 1);
  expect_shared(g, n, 1, input_type(g, n, 0).content);
  n.attributes.real("eps");
  return {{input_type(g, n, 0)}};
}
}  // namespace
extern const Operator kRmsNorm;
const Operator kRmsNorm{"rms_norm", infer, flow_cell, cost_elementwise};
}  // namespace stormcell
