// pack(x [S, ...], ragged; spaces) -> one value for each listed ragged space of `ragged`: the rows of x, over the base
// S, of the cells there.
#include "core/graph/operator.h"

namespace stormcell {
namespace {
std::vector<Result> infer_pack(const Graph& g, const Node& n) {
  expect_inputs(n, 2, 2);
  expect_ragged(g, n, 1);
  const TensorType& x = input_type(g, n, 0);
  const Value& ragged = g.value(n.inputs[1]);
  if (x.space != ragged.type.space) operator_error(n, "x over " + g.space(ragged.type.space).name, type_text(g, x));
  std::vector<Result> results;
  for (const int64_t s : n.attributes.list("spaces")) {
    if (g.space(SpaceId(s)).offsets != n.inputs[1])
      operator_error(n, "ragged spaces of %" + ragged.name, "space " + to_text(SpaceId(s)));
    results.push_back({{x.dtype, SpaceId(s), x.content}});
  }
  return results;
}
constexpr AttributeRule kPackAttributes[] = {{"spaces", AttributeKind::spaces}};
}  // namespace
extern const Operator kPack;
const Operator kPack{.name = "pack",
                     .infer = infer_pack,
                     .flow = flow_cell,
                     .cost = cost_of_traffic,
                     .role = Role::open,
                     .attributes = kPackAttributes};
}  // namespace stormcell
