// broadcast(x [P, ...]; space) -> [space, ...]: each cell of `space`, dense or ragged below P, gets its parent's row.
#include "core/graph/operator.h"

namespace stormcell {
namespace {
std::vector<Result> infer_broadcast(const Graph& g, const Node& n) {
  expect_inputs(n, 1, 1);
  expect_activation(g, n, 0);
  const TensorType& x = input_type(g, n, 0);
  const SpaceId space(n.attributes.integer("space"));
  if (!is_grouped(g, space) || g.space(space).parent != x.space)
    operator_error(n, "a space of cells below those of x", "space " + to_text(space));
  return {{{x.dtype, space, x.content}}};
}
constexpr AttributeRule kBroadcastAttributes[] = {{"space", AttributeKind::space}};
}  // namespace
extern const Operator kBroadcast;
const Operator kBroadcast{.name = "broadcast",
                          .infer = infer_broadcast,
                          .flow = flow_within,
                          .cost = cost_of_traffic,
                          .attributes = kBroadcastAttributes};
}  // namespace stormcell
