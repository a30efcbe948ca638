// expand(y [R, ...], ragged) -> [base of R, ...]: the rows of R's cells in their places, zeros in cells that R lacks. R
// holds each cell of its base at most once (compact).
#include "core/graph/operator.h"

namespace stormcell {
namespace {
std::vector<Result> infer_expand(const Graph& g, const Node& n) {
  expect_inputs(n, 2, 2);
  expect_ragged(g, n, 1);
  const TensorType& y = input_type(g, n, 0);
  if (y.space == kNone || g.space(y.space).offsets != n.inputs[1])
    operator_error(n, "rows over the cells of %" + g.value(n.inputs[1]).name, type_text(g, y));
  if (g.holds_members(y.space)) operator_error(n, "cells that no decision moved", type_text(g, y));
  return {{{y.dtype, g.space(y.space).base, y.content}}};
}
}  // namespace
extern const Operator kExpand;
const Operator kExpand{
    .name = "expand", .infer = infer_expand, .flow = flow_cell, .cost = cost_of_traffic, .in_place = true};
}  // namespace stormcell
