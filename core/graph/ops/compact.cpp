// compact(mask [S] i32) -> ragged: the cells of S whose mask is not 0, below the same parents. Its space's base is S.
// No router: who is left out was never data.
#include "core/graph/operator.h"

namespace stormcell {
namespace {
std::vector<Result> infer_compact(const Graph& g, const Node& n) {
  expect_inputs(n, 1, 1);
  expect_integer(g, n, 0);
  const TensorType& mask = input_type(g, n, 0);
  if (!is_grouped(g, mask.space) || !mask.content.empty())
    operator_error(n, "flags over cells that have parents", type_text(g, mask));
  return {{{DType::i32, mask.space, {}}, ValueKind::ragged, 0, 1}};
}
}  // namespace
extern const Operator kCompact;
const Operator kCompact{.name = "compact", .infer = infer_compact, .flow = flow_cell, .cost = cost_of_traffic};
}  // namespace stormcell
