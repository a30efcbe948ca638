// scatter(x [S, ...], decision; spaces) -> one value for each listed routed space: the rows of the cells that go there.
// One node a flow: several flows of one router are several scatters of one decision.
#include "core/graph/operator.h"

namespace stormcell {
namespace {
std::vector<Result> infer_scatter(const Graph& g, const Node& n) {
  expect_inputs(n, 2, 2);
  expect_activation(g, n, 0);
  expect_decision(g, n, 1);
  const TensorType& x = input_type(g, n, 0);
  const Value& decision = g.value(n.inputs[1]);
  if (x.space != decision.type.space)
    operator_error(n, "x over the cells of its decision, " + g.space(decision.type.space).name, type_text(g, x));
  std::vector<Result> results;
  for (const int64_t s : n.attributes.list("spaces")) {
    if (g.space(SpaceId(s)).decision != n.inputs[1])
      operator_error(n, "routed spaces of its decision", "space " + to_text(SpaceId(s)));
    results.push_back({{x.dtype, SpaceId(s), x.content}});
  }
  return results;
}
constexpr AttributeRule kScatterAttributes[] = {{"spaces", AttributeKind::spaces}};
}  // namespace
extern const Operator kScatter;
// A branch may read the rows that it is sent where they lie (docs/decisions/044-lent-rows.md), so no bound of time
// holds a copy.
const Operator kScatter{.name = "scatter",
                        .infer = infer_scatter,
                        .flow = flow_cell,
                        .cost = cost_none,
                        .role = Role::open,
                        .attributes = kScatterAttributes};
}  // namespace stormcell
