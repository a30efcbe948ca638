// standardize(x [S, ..., C], mean [C], deviation [C]) -> like x: (x - mean) / deviation of each channel; channels lie
// last.
#include "core/graph/operator.h"

namespace stormcell {
namespace {
std::vector<Result> infer_standardize(const Graph& g, const Node& n) {
  expect_inputs(n, 3, 3);
  expect_real(g, n, 0);
  const TensorType& x = input_type(g, n, 0);
  if (x.space == kNone || x.content.empty()) operator_error(n, "rows of numbers over cells", type_text(g, x));
  for (const size_t i : {1, 2}) expect_shared(g, n, i, {x.content.back()});
  return {{x}};
}
}  // namespace
extern const Operator kStandardize;
const Operator kStandardize{.name = "standardize",
                            .infer = infer_standardize,
                            .flow = flow_cell,
                            .cost = cost_elementwise,
                            .role = Role::pointwise};
}  // namespace stormcell
