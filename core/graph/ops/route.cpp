// route(scores [S, branches]; extras bias [branches], label [S] i32) -> decision by the protocol in the attributes. attributes besides:
// branches, where one label a cell decides; stack and phase, which name the part of the model it belongs to.
#include "core/graph/operator.h"
#include "core/graph/protocol_attributes.h"

namespace stormcell {
namespace {
std::vector<Result> infer(const Graph& g, const Node& n) {
  expect_inputs(g, n, 1 + extra_count(n), 1 + extra_count(n));
  const Protocol protocol = protocol_of(n.attributes);
  const bool by_label = protocol.kind == ProtocolKind::label || protocol.kind == ProtocolKind::hash;
  if (by_label) {
    expect_one_integer(g, n, 0);
  } else {
    expect_cells(g, n, 0, 1);
  }
  const TensorType& scores = input_type(g, n, 0);
  if (scores.space == kNone) operator_error(g, n, "scores over cells", type_text(g, scores));
  if (by_label) expect_attribute(g, n, "branches");
  // Of dense cells below a branch a row names another cell in every batch: nobody could record, replay or judge where they went.
  if (g.is_told(g.dense_ancestor(scores.space)))
    operator_error(g, n, "cells of a space that is there before any decision, or members of one (operator members)",
                   "the dense cells of " + g.space(scores.space).name + " below cells that a decision tells");
  const int64_t columns = by_label ? n.attributes.integer("branches") : scores.content[0].constant();
  if (const int i = extra_input(n, "bias", 1); i >= 0) expect_shared(g, n, static_cast<size_t>(i), {columns});
  if (const int i = extra_input(n, "label", 1); i >= 0) {
    expect_one_integer(g, n, static_cast<size_t>(i));
    expect_space(g, n, static_cast<size_t>(i), scores.space);
  }
  const bool two_way = protocol.kind == ProtocolKind::exit_threshold || protocol.kind == ProtocolKind::residual_threshold;
  const int64_t branches = two_way ? 2 : columns;
  const int32_t fan_out = protocol.fan_out(static_cast<int32_t>(branches));
  if (branches < 1 || columns > 4096 || fan_out < 1 || fan_out > branches || fan_out > 4096 ||
      (fan_out > 64 && protocol.kind != ProtocolKind::threshold))
    operator_error(g, n, "1 to 4096 branches and a fan-out of at most 64 among them",
                   std::to_string(branches) + " branches, fan-out " + std::to_string(fan_out));
  if (protocol.kind == ProtocolKind::sigmoid_groups &&
      (protocol.groups < 1 || protocol.groups > 64 || branches % protocol.groups != 0 || protocol.groups_kept < 1 ||
       protocol.groups_kept > protocol.groups || protocol.k > branches / protocol.groups * protocol.groups_kept))
    operator_error(g, n, "groups that divide the branches and hold k choices", std::to_string(protocol.groups));
  if (protocol.residual >= branches)
    operator_error(g, n, "a residual branch below " + std::to_string(branches), std::to_string(protocol.residual));
  return {{{DType::i32, scores.space, {}}, ValueKind::decision, static_cast<int32_t>(branches), fan_out}};
}
Flow flow(const Graph& g, const Node& n, size_t index) {
  const Value& v = g.value(n.inputs[index]);
  if (v.kind == ValueKind::weight || v.type.space == kNone) return {Mix::none};
  const Protocol protocol = protocol_of(n.attributes);
  // A cell's own scores also weigh its branches; other cells only decide whether it is dropped.
  if (protocol.mixes_batch()) return {Mix::batch, kNone, true};
  if (protocol.mixes_parent()) {
    const SpaceId space = v.type.space;
    if (is_grouped(g, space)) return {Mix::before, g.space(space).parent, true};
    return {Mix::batch, kNone, true};
  }
  return {Mix::cell};
}
}  // namespace
extern const Operator kRoute;
const Operator kRoute{.name = "route",
                      .infer = infer,
                      .flow = flow,
                      .cost = cost_elementwise,
                      .role = Role::route,
                      .extras = "bias label",
                      .attributes = kRouteAttributes};
}  // namespace stormcell
