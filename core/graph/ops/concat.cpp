// concat(x_0 [S, ..., d_0], x_1 [S, ..., d_1], ...) -> [S, ..., d_0 + d_1 + ...]: along the last extent, in f32.
#include "core/graph/operator.h"

namespace stormcell {
namespace {
std::vector<Result> infer_concat(const Graph& g, const Node& n) {
  expect_inputs(n, 1, 1u << 10);
  TensorType joined = input_type(g, n, 0);
  if (joined.space == kNone || joined.content.empty())
    operator_error(n, "rows of numbers over cells", type_text(g, joined));
  int64_t last = 0;
  for (size_t i = 0; i < n.inputs.size(); ++i) {
    expect_real(g, n, i);
    expect_space(g, n, i, joined.space);
    const TensorType& x = input_type(g, n, i);
    std::vector<Dim> content = joined.content;
    if (x.content.size() == content.size()) content.back() = x.content.back();
    expect_content(g, n, i, content);
    last += x.content.back().constant();
  }
  joined.content.back() = last;
  return {{joined}};
}
}  // namespace
extern const Operator kConcat;
const Operator kConcat{
    .name = "concat", .infer = infer_concat, .flow = flow_cell, .cost = cost_of_traffic, .role = Role::pointwise};
}  // namespace stormcell
