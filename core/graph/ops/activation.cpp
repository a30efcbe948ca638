// activation(x; kind = relu gelu gelu_tanh silu) -> like x.
#include "core/graph/operator.h"

namespace stormcell {
namespace {
std::vector<Result> infer(const Graph& g, const Node& n) {
  expect_inputs(g, n, 1, 1);
  expect_real(g, n, 0);
  const std::string& kind = n.attributes.word("kind");
  if (kind != "relu" && kind != "gelu" && kind != "gelu_tanh" && kind != "silu")
    operator_error(g, n, "kind relu, gelu, gelu_tanh or silu", kind);
  return {{input_type(g, n, 0)}};
}
}  // namespace
extern const Operator kActivation;
const Operator kActivation{"activation", infer, flow_cell, cost_elementwise};
}  // namespace stormcell
