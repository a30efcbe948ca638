// all_set(flags [S] i32, ...) -> scalar i32: 1 when no flag of any input is 0; scalars are flags too.
#include "core/graph/operator.h"

namespace stormcell {
namespace {
std::vector<Result> infer_all_set(const Graph& g, const Node& n) {
  expect_inputs(n, 1, 1u << 20);
  for (size_t i = 0; i < n.inputs.size(); ++i) expect_integer(g, n, i);
  return {{{DType::i32, kNone, {}}}};
}
}  // namespace
extern const Operator kAllSet;
const Operator kAllSet{.name = "all_set", .infer = infer_all_set, .flow = flow_batch, .cost = cost_of_traffic};
}  // namespace stormcell
