// reduce(x [S, d]; mode = mean last sum) -> [parent of S, d]: the mean, the last cell, or the sum of each parent's
// cells. S is dense or ragged; a parent without cells gives 0. The last cell and the sum may be of any type, integers
// too.
#include "core/graph/operator.h"

namespace stormcell {
namespace {
std::vector<Result> infer_reduce(const Graph& g, const Node& n) {
  expect_inputs(n, 1, 1);
  const TensorType& x = input_type(g, n, 0);
  expect_activation(g, n, 0);
  if (n.attributes.word("mode") == "mean") expect_cells(g, n, 0, 1);
  if (!is_grouped(g, x.space)) operator_error(n, "cells that have parents", type_text(g, x));
  return {{{x.dtype, g.space(x.space).parent, x.content}}};
}
constexpr AttributeRule kReduceAttributes[] = {{"mode", AttributeKind::word, Presence::required, "mean last sum"}};
}  // namespace
extern const Operator kReduce;
const Operator kReduce{.name = "reduce",
                       .infer = infer_reduce,
                       .flow = flow_within_parent,
                       .cost = cost_elementwise,
                       .attributes = kReduceAttributes};
}  // namespace stormcell
