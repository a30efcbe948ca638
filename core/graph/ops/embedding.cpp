// embedding(ids [S], table [V, d]) -> [S, d]: row ids[c] of the table for each cell. Rows of the table may lie in
// blocks, whole ones.
#include "core/graph/operator.h"

namespace stormcell {
namespace {
std::vector<Result> infer_embedding(const Graph& g, const Node& n) {
  expect_inputs(n, 2, 2);
  expect_integer(g, n, 0);
  const TensorType &ids = input_type(g, n, 0), &table = input_type(g, n, 1);
  if (ids.space == kNone || !ids.content.empty()) operator_error(n, "one id a cell", type_text(g, ids));
  if (table.space != kNone || table.content.size() != 2) operator_error(n, "a table [V, d]", type_text(g, table));
  expect_product_weight(g, n, 1);
  return {{{DType::f32, ids.space, {table.content[1]}}}};
}
Cost cost_embedding(const CostContext& c, const Node& n) {
  Cost cost;
  cost.activation_bytes = 2 * value_bytes(c, n.outputs[0]);  // rows read, rows written; the table is not read whole
  return cost;
}
}  // namespace
extern const Operator kEmbedding;
const Operator kEmbedding{
    .name = "embedding", .infer = infer_embedding, .flow = flow_cell, .cost = cost_embedding, .role = Role::pointwise};
}  // namespace stormcell
