// reduce(x [S, d]; mode = mean last) -> [parent of S, d]: the mean, or the last cell, of each parent's cells. S is dense or
// ragged; a parent without cells gives 0. The last cell may be of any type, integers too.
#include "core/graph/operator.h"

namespace stormcell {
namespace {
std::vector<Result> infer(const Graph& g, const Node& n) {
  expect_inputs(g, n, 1, 1);
  const TensorType& x = input_type(g, n, 0);
  expect_activation(g, n, 0);
  const std::string& mode = n.attributes.word("mode");
  if (mode == "mean") expect_cells(g, n, 0, 1);
  if (mode != "mean" && mode != "last") operator_error(g, n, "mode mean or last", mode);
  if (!is_grouped(g, x.space)) operator_error(g, n, "cells that have parents", type_text(g, x));
  return {{{x.dtype, g.space(x.space).parent, x.content}}};
}
Flow flow(const Graph& g, const Node& n, size_t) { return {Mix::within, g.space(input_type(g, n, 0).space).parent}; }
}  // namespace
extern const Operator kReduce;
const Operator kReduce{"reduce", infer, flow, cost_elementwise};
}  // namespace stormcell
