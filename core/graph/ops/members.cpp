// members(decision [, ragged]; base) -> ragged: below each slot of a decision that routes parents, the parent's cells
// of the space `base`. base is a dense child of the decision's space; or a ragged one (compact), whose cells `ragged`
// tells.
#include "core/graph/operator.h"

#include "core/base/counted.h"

namespace stormcell {
namespace {
std::vector<Result> infer_members(const Graph& g, const Node& n) {
  expect_inputs(n, 1, 2);
  expect_decision(g, n, 0);
  const Value& decision = g.value(n.inputs[0]);
  const SpaceId base(n.attributes.integer("base"));
  if (!is_grouped(g, base) || g.space(base).parent != decision.type.space)
    operator_error(n, "a space of cells below " + g.space(decision.type.space).name, "space " + to_text(base));
  if (g.holds_members(base))
    operator_error(n, "cells that are not members of another decision's branch", g.space(base).name);
  const bool ragged = g.space(base).kind == SpaceKind::ragged;
  if (ragged != (n.inputs.size() == 2) || (ragged && g.space(base).offsets != n.inputs[1]))
    operator_error(n, ragged ? "the ragged cells of " + g.space(base).name + " as second input" : "a decision alone",
                   counted(std::ssize(n.inputs), "input"));
  return {{{DType::i32, base, {}}, ValueKind::ragged, 0, decision.fan_out}};
}
constexpr AttributeRule kMembersAttributes[] = {{"base", AttributeKind::space}};
}  // namespace
extern const Operator kMembers;
const Operator kMembers{.name = "members",
                        .infer = infer_members,
                        .flow = flow_cell,
                        .cost = cost_of_traffic,
                        .attributes = kMembersAttributes};
}  // namespace stormcell
