// activation(x; kind = relu gelu gelu_tanh silu tanh sigmoid) -> like x.
#include "core/graph/operator.h"

namespace stormcell {
namespace {
std::vector<Result> infer_activation(const Graph& g, const Node& n) {
  expect_inputs(n, 1, 1);
  expect_real(g, n, 0);
  return {{input_type(g, n, 0)}};
}
constexpr AttributeRule kActivationAttributes[] = {{"kind", AttributeKind::word, Presence::required, kActivationWords}};
}  // namespace
extern const Operator kActivation;
const Operator kActivation{.name = "activation",
                           .infer = infer_activation,
                           .flow = flow_cell,
                           .cost = cost_elementwise,
                           .role = Role::pointwise,
                           .attributes = kActivationAttributes,
                           .folds_as = "activation"};
}  // namespace stormcell
