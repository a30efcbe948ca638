// The all-to-all of expert parallelism, in three operators. Every rank runs the same graph on its own cells and holds
// some branches.
//
// exchange_decision(decision; ranks, owners [branches]) -> decision of the cells that arrived here, from all ranks,
// each with its branch:
//   in the root space `arrived`, whose bound is ranks x slots. Ordered by source rank, then branch, then slot.
// exchange_rows(x [slots], decision, arrived decision; slots) -> the arrived cells' rows over the arrived decision's
// slots. exchange_back(y [arrived slots], arrived decision, decision; slots) -> each slot's row, back where it came
// from.
#include "core/graph/operator.h"

namespace stormcell {
namespace {

SpaceId slots_of(const Graph& g, const Node& n, ValueId decision) {
  const SpaceId slots(n.attributes.integer("slots"));
  if (g.space(slots).decision != decision || g.space(slots).branch != kAllBranches)
    operator_error(n, "the slots of %" + g.value(decision).name, "space " + to_text(slots));
  return slots;
}

std::vector<Result> infer_decision(const Graph& g, const Node& n) {
  expect_inputs(n, 1, 1);
  expect_decision(g, n, 0);
  const Value& d = g.value(n.inputs[0]);
  const SpaceId space(n.attributes.integer("arrived"));
  const int64_t ranks = n.attributes.integer("ranks");
  if (ranks < 1 || ranks > 4096) operator_error(n, "1 to 4096 ranks", std::to_string(ranks));
  if (g.space(space).kind != SpaceKind::root)
    operator_error(n, "a root space for the cells that arrive", "space " + to_text(space));
  const auto& owners = n.attributes.list("owners");
  if (owners.size() != static_cast<size_t>(d.branches))
    operator_error(n, "an owner for each of " + std::to_string(d.branches) + " branches",
                   std::to_string(owners.size()));
  for (const int64_t o : owners)
    if (o < 0 || o >= ranks) operator_error(n, "owners below " + std::to_string(ranks), std::to_string(o));
  return {{{DType::i32, space, {}}, ValueKind::decision, d.branches, 1}};
}
std::vector<Result> infer_rows(const Graph& g, const Node& n) {
  expect_inputs(n, 3, 3);
  expect_cells(g, n, 0, 1);
  expect_decision(g, n, 1);
  expect_decision(g, n, 2);
  const TensorType& x = input_type(g, n, 0);
  if (x.space == kNone || g.space(x.space).decision != n.inputs[1] || g.space(x.space).branch != kAllBranches)
    operator_error(n, "rows over the slots of %" + g.value(n.inputs[1]).name, type_text(g, x));
  return {{{x.dtype, slots_of(g, n, n.inputs[2]), x.content}}};
}
Flow flow_exchange(const Graph& g, const Node& n, size_t index) {
  return {g.value(n.inputs[index]).type.space == kNone ? Mix::none : Mix::batch};
}
constexpr AttributeRule kDecisionAttributes[] = {
    {"arrived", AttributeKind::space}, {"ranks", AttributeKind::integer}, {"owners", AttributeKind::integers}};
constexpr AttributeRule kRowsAttributes[] = {{"slots", AttributeKind::space}};
}  // namespace

extern const Operator kExchangeDecision, kExchangeRows, kExchangeBack;
const Operator kExchangeDecision{.name = "exchange_decision",
                                 .infer = infer_decision,
                                 .flow = flow_exchange,
                                 .cost = cost_of_traffic,
                                 .role = Role::exchange,
                                 .attributes = kDecisionAttributes};
const Operator kExchangeRows{.name = "exchange_rows",
                             .infer = infer_rows,
                             .flow = flow_exchange,
                             .cost = cost_of_traffic,
                             .role = Role::exchange,
                             .attributes = kRowsAttributes};
const Operator kExchangeBack{.name = "exchange_back",
                             .infer = infer_rows,
                             .flow = flow_exchange,
                             .cost = cost_of_traffic,
                             .role = Role::exchange,
                             .attributes = kRowsAttributes};
}  // namespace stormcell
