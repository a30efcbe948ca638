// grouped_conv2d(x [.., H, W, C], decision, w_0 [O, kh, kw, C/groups], w_1, ..., with biases=1 b_0 [O], b_1, ...;
// extras residual [slots, H', W', O]) -> [slots, H', W', O]: the convolutions of all branches of a decision in one (not
// one in groups of channels, which the attribute `groups` asks for): each slot's map meets its branch's weights and
// bias, as conv2d does. x and slots: as grouped_linear has them. attributes: branches, slots, biases as there; stride,
// padding, groups, activation, residual_first as in conv2d.
#include "core/graph/ops/convolution.h"
#include "core/graph/ops/grouped.h"

namespace stormcell {
namespace {
std::vector<Result> infer_grouped_conv2d(const Graph& g, const Node& n) {
  expect_cells(g, n, 0, 3);
  const size_t branches = n.attributes.list("branches").size(), of_branch = flag_of(n, "biases") ? 2 : 1,
               fixed = 2 + branches * of_branch;
  const TensorType y = convolved(g, n, 2, expect_grouped(g, n, of_branch), integer_of(n, "groups"));
  expect_alike(g, n, 2);
  for (size_t i = 2 + branches; i < fixed; ++i) expect_shared(g, n, i, {y.content[2]});
  expect_extra_like(g, n, "residual", y);
  expect_residual_first(n);
  return {{y}};
}
Cost cost_grouped_conv2d(const CostContext& c, const Node& n) {
  Cost cost;
  cost.flops = convolution_flops(c, n, 2);
  cost.weight_bytes = grouped_weight_bytes(c, n);
  // Each slot reads a map, also where cells have them.
  const double maps = c.rows(SpaceId(n.attributes.integer("slots"))), out = value_bytes(c, n.outputs[0]);
  cost.activation_bytes =
      maps * static_cast<double>(c.graph.row_bytes(n.inputs[0])) + out * (extra_count(n) > 0 ? 2 : 1);
  return cost;
}
constexpr AttributeRule kGroupedConv2dAttributes[] = {
    {"branches", AttributeKind::integers},
    {"slots", AttributeKind::space},
    {"biases", AttributeKind::flag, defaults_to(0)},
    {"stride", AttributeKind::integer, defaults_to(1)},
    {"padding", AttributeKind::integer, defaults_to(0)},
    {"groups", AttributeKind::integer, defaults_to(1)},
    {"activation", AttributeKind::word, defaults_to("none"), kActivationWordsOrNone},
    {"residual_first", AttributeKind::flag, defaults_to(0)}};
}  // namespace
extern const Operator kGroupedConv2d;
const Operator kGroupedConv2d{.name = "grouped_conv2d",
                              .infer = infer_grouped_conv2d,
                              .flow = flow_cell,
                              .cost = cost_grouped_conv2d,
                              .role = Role::grouped,
                              .extras = "residual",
                              .attributes = kGroupedConv2dAttributes,
                              .absorbs = "activation residual",
                              .chains_as = "grouped_residual_blocks"};
}  // namespace stormcell
