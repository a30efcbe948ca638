// route(scores [S, branches], or [S] of one branch; extra bias [branches]) -> decision by the protocol in the
// attributes. attributes besides: branches, where one label a cell decides; stack, which names the part of the model it
// belongs to; within, branches that a rewrite made straight.
#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "core/cell/protocol_row.h"
#include "core/graph/operator.h"
#include "core/graph/protocol_attributes.h"
#include "core/graph/within.h"

namespace stormcell {
namespace {
/// A parameter that the protocol does not read would be taken for one that it does.
void expect_parameters(const Node& n, const ProtocolRow& row) {
  constexpr std::array<std::string_view, 4> kOfEveryRouter = {"protocol", "stack", "within", "extras"};
  const auto expect_known = [&](std::string_view name) {
    if (takes(row, name)) return;
    const std::string known = std::string(row.takes) + " " + std::string(kCommonParameters);
    operator_error(n, "parameters that " + std::string(row.name) + " takes, " + listed(known, "and"), name);
  };
  for (const auto& [name, value] : n.attributes)
    if (std::find(kOfEveryRouter.begin(), kOfEveryRouter.end(), name) == kOfEveryRouter.end()) expect_known(name);
  for (size_t i = 0; i < extra_count(n); ++i) expect_known(extra_name(n, i));
}

/// Branches that a cell can choose from at least, whichever groups are kept: the smallest ones, of what is left on.
int64_t least_in_kept_groups(const Protocol& p, int64_t branches) {
  std::vector<int64_t> left(p.groups, branches / p.groups);
  for (const int32_t b : p.off) --left[b / (branches / p.groups)];
  std::erase(left, 0);  // never kept
  std::sort(left.begin(), left.end());
  left.resize(std::min<int64_t>(std::ssize(left), p.groups_kept));
  return std::accumulate(left.begin(), left.end(), int64_t{0});
}
bool groups_fit(const Protocol& p, int64_t branches) {
  return p.groups >= 1 && p.groups <= kMostChoices && branches % p.groups == 0 && p.groups_kept >= 1 &&
         p.groups_kept <= p.groups && p.k <= least_in_kept_groups(p, branches);
}

/// Branches that are off exist, ascend, and leave as many as a cell takes.
void expect_some_on(const Node& n, const Protocol& p, const ProtocolRow& row, int64_t branches) {
  for (size_t i = 0; i < p.off.size(); ++i)
    if (p.off[i] < 0 || p.off[i] >= branches || (i > 0 && p.off[i] <= p.off[i - 1]))
      operator_error(n, "branches below " + std::to_string(branches) + " that are off, ascending",
                     std::to_string(p.off[i]));
  const int64_t left = branches - std::ssize(p.off), least = row.fan_out == FanOut::k ? p.k : 1;
  if (left < least)
    operator_error(n, "at least " + std::to_string(least) + " branches that are not off", std::to_string(left));
}

std::vector<Result> infer_route(const Graph& g, const Node& n) {
  expect_inputs(n, 1 + extra_count(n), 1 + extra_count(n));
  const Protocol protocol = protocol_of(n.attributes);
  const ProtocolRow& row = protocol_row(protocol.kind);
  const bool by_label = row.by_label();
  expect_parameters(n, row);
  former_branches(n);  // complains of a wrong list
  if (by_label) {
    expect_one_integer(g, n, 0);
  } else if (input_type(g, n, 0).content.empty()) {
    expect_real(g, n, 0);
  } else {
    expect_cells(g, n, 0, 1);
  }
  const TensorType& scores = input_type(g, n, 0);
  if (scores.space == kNone) operator_error(n, "scores over cells", type_text(g, scores));
  if (by_label) expect_attribute(n, "branches");
  // A row of dense cells below a branch names another cell in every batch: nobody could record, replay or judge where
  // such cells went.
  if (g.is_dynamic(g.dense_ancestor(scores.space)))
    operator_error(n, "cells of a space that is there before any decision, or members of one (operator members)",
                   "the dense cells of " + g.space(scores.space).name + " below cells that a decision defines");
  const int64_t columns = by_label                 ? n.attributes.integer("branches")
                          : scores.content.empty() ? 1
                                                   : scores.content[0].constant();
  if (const auto i = extra_input(n, "bias")) expect_shared(g, n, *i, {columns});
  const int64_t branches = row.branches > 0 ? row.branches : columns;
  const int32_t fan_out = fan_out_of(protocol, static_cast<int32_t>(branches));
  const int32_t most = row.fan_out == FanOut::all ? kMostBranches : kMostChoices;
  if (branches < 1 || branches > kMostBranches || fan_out < 1 || fan_out > branches || fan_out > most)
    operator_error(n,
                   "1 to " + std::to_string(kMostBranches) + " branches and a fan-out of at most " +
                       std::to_string(kMostChoices) + " among them",
                   std::to_string(branches) + " branches, fan-out " + std::to_string(fan_out));
  expect_some_on(n, protocol, row, branches);
  if (takes(row, "groups") && !groups_fit(protocol, branches))
    operator_error(n, "groups that divide the branches and hold k choices", std::to_string(protocol.groups));
  if (protocol.residual >= branches)
    operator_error(n, "a residual branch below " + std::to_string(branches), std::to_string(protocol.residual));
  return {{{DType::i32, scores.space, {}}, ValueKind::decision, static_cast<int32_t>(branches), fan_out}};
}
Flow flow_route(const Graph& g, const Node& n, size_t index) {
  const Value& v = g.value(n.inputs[index]);
  if (v.kind == ValueKind::weight || v.type.space == kNone) return {Mix::none};
  const Protocol protocol = protocol_of(n.attributes);
  // A cell's own scores also weigh its branches; other cells only decide whether it is dropped.
  if (mixes_batch(protocol)) return {Mix::batch, kNone, true};
  if (mixes_parent(protocol)) {
    const SpaceId space = v.type.space;
    if (is_grouped(g, space)) return {Mix::before, g.space(space).parent, true};
    return {Mix::batch, kNone, true};
  }
  return {Mix::cell};
}
}  // namespace
extern const Operator kRoute;
const Operator kRoute{.name = "route",
                      .infer = infer_route,
                      .flow = flow_route,
                      .cost = cost_elementwise,
                      .role = Role::route,
                      .extras = "bias",
                      .attributes = kRouteAttributes};
}  // namespace stormcell
