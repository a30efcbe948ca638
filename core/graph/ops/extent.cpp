// extent(; extent = "P+T") -> scalar i32: the value of a symbolic extent in this batch.
#include "core/graph/operator.h"

namespace stormcell {
namespace {
std::vector<Result> infer(const Graph& g, const Node& n) {
  expect_inputs(g, n, 0, 0);
  Dim::parse(n.attributes.word("extent"), g.symbols, "extent \"" + n.name + "\"");
  return {{{DType::i32, kNone, {}}}};
}
Cost cost(const CostContext&, const Node&) { return {}; }
}  // namespace
extern const Operator kExtent;
const Operator kExtent{"extent", infer, flow_cell, cost};
}  // namespace stormcell
