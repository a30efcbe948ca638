// rms_norm(x [S, heads*d], gain [d]; eps, heads) -> like x: x / sqrt(mean(x^2) + eps) * gain, in each head by itself.
#include "core/graph/operator.h"

namespace stormcell {
namespace {
std::vector<Result> infer_rms_norm(const Graph& g, const Node& n) {
  expect_inputs(n, 2, 2);
  expect_cells(g, n, 0, 1);
  const int64_t heads = integer_of(n, "heads");
  if (heads == 1) {
    expect_shared(g, n, 1, input_type(g, n, 0).content);
  } else {
    const int64_t width = input_type(g, n, 0).content[0].constant();
    if (heads < 1 || width % heads != 0)
      operator_error(n, "a width of " + std::to_string(heads) + " heads", std::to_string(width));
    expect_shared(g, n, 1, {width / heads});
  }
  return {{input_type(g, n, 0)}};
}
constexpr AttributeRule kRmsNormAttributes[] = {{"eps", AttributeKind::real},
                                               {"heads", AttributeKind::integer, defaults_to(1)}};
}  // namespace
extern const Operator kRmsNorm;
const Operator kRmsNorm{.name = "rms_norm",
                        .infer = infer_rms_norm,
                        .flow = flow_cell,
                        .cost = cost_elementwise,
                        .role = Role::pointwise,
                        .attributes = kRmsNormAttributes,
                        .folds_as = "gain"};
}  // namespace stormcell
