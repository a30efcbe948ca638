// gather(y_0, y_1, ..., f_0, ...; extras otherwise [S, ...], residual [S, ...]) -> [S, ...]: joins values of one or of
// several routers in the space `space`, whose cells all of theirs are. mode: sum; weighted (each row times its choice's
// weight; of members of routed parents the parent's; direct branches only); place (later inputs win; integers too).
// Cells that no row reaches give 0; with `otherwise`: sum, place: its row; weighted: dropped cells give weight * its
// row. `residual` is added at the end. attribute branches, where y_0 lives over all slots of a decision or over the
// members of them all: the branches whose rows count (not with place). attribute factors, of a sum: which of the y have
// an f, [S_y] or [S_y, 1], each row's number; the product is rounded before it is added, as multiply gives it.
#include "core/base/counted.h"
#include "core/graph/roles.h"

namespace stormcell {
namespace {
/// Cells of a direct branch, or members of one: their choices have weights.
bool is_weighed(const Graph& g, SpaceId cells, SpaceId space) {
  if (cells == space || g.origin(cells) != space) return false;
  return g.space(cells).kind == SpaceKind::routed || g.holds_members(cells);
}

void expect_factors(const Graph& g, const Node& n) {
  const std::vector<int64_t>& of = factored_inputs(n);
  if (!of.empty() && n.attributes.word("mode") != "sum")
    operator_error(n, "mode sum with factors", n.attributes.word("mode"));
  const size_t joined = joined_inputs(n);
  for (size_t f = 0; f < of.size(); ++f) {
    if (of[f] < (f > 0 ? of[f - 1] + 1 : 0) || of[f] >= static_cast<int64_t>(joined))
      operator_error(n, "factors of some of its " + counted(static_cast<int64_t>(joined), "value") + ", in their order",
                     std::to_string(of[f]));
    expect_real(g, n, joined + f);
    expect_space(g, n, joined + f, input_type(g, n, static_cast<size_t>(of[f])).space);
    const TensorType& factor = input_type(g, n, joined + f);
    if (!factor.content.empty() && factor.content != std::vector<Dim>{1})
      operator_error(n, "input " + std::to_string(joined + f) + " with one number a row", type_text(g, factor));
  }
}

std::vector<Result> infer_gather(const Graph& g, const Node& n) {
  expect_inputs(n, 1 + factored_inputs(n).size() + extra_count(n), 1u << 20);
  const size_t joined = joined_inputs(n);
  const SpaceId space(n.attributes.integer("space"));
  const std::string& mode = n.attributes.word("mode");
  const TensorType& first = input_type(g, n, 0);
  for (size_t i = 0; i < joined; ++i) {
    const TensorType& y = input_type(g, n, i);
    expect_activation(g, n, i);
    if (mode != "place") expect_real(g, n, i);
    if (y.content != first.content || y.dtype != first.dtype)
      operator_error(n, "rows alike, " + type_text(g, first), type_text(g, y));
    if (!g.is_within(y.space, space)) operator_error(n, "cells below " + g.space(space).name, type_text(g, y));
    for (SpaceId s = y.space; s != space; s = g.origin(s))
      if (g.origin(s) == kNone) operator_error(n, "only routed and ragged spaces between", g.space(s).name);
    if (mode == "weighted" && !is_weighed(g, y.space, space))
      operator_error(n, "direct branches to weigh", type_text(g, y));
  }
  expect_factors(g, n);
  const TensorType y{first.dtype, space, first.content};
  expect_extra_like(g, n, "otherwise", y);
  expect_extra_like(g, n, "residual", y);
  if (const auto i = extra_input(n, "residual")) expect_real(g, n, *i);
  if (n.attributes.has("branches")) {
    const SpaceId cells = first.space;
    const CellSpace* slots =
        cells == kNone ? nullptr : &g.space(g.holds_members(cells) ? g.space(cells).parent : cells);
    if (joined != 1 || mode == "place" || !slots || slots->kind != SpaceKind::routed || slots->branch != kAllBranches ||
        g.origin(cells) != space)
      operator_error(n, "the slots of one decision, to sum or to weigh, with branches", type_text(g, first));
    for (const int64_t b : n.attributes.list("branches"))
      if (b < 0 || b >= g.value(slots->decision).branches)
        operator_error(n, "branches of its decision", std::to_string(b));
  }
  return {{y}};
}
Cost cost_gather(const CostContext& c, const Node& n) {
  Cost cost = cost_of_traffic(c, n);
  for (const int64_t i : factored_inputs(n)) cost.flops += value_bytes(c, n.inputs[i]) / 4;
  return cost;
}
constexpr AttributeRule kGatherAttributes[] = {{"space", AttributeKind::space},
                                               {"mode", AttributeKind::word, Presence::required, "sum weighted place"},
                                               {"branches", AttributeKind::integers, Presence::optional},
                                               {"factors", AttributeKind::integers, Presence::optional}};
}  // namespace
extern const Operator kGather;
const Operator kGather{.name = "gather",
                       .infer = infer_gather,
                       .flow = flow_cell,
                       .cost = cost_gather,
                       .role = Role::close,
                       .extras = "otherwise residual",
                       .attributes = kGatherAttributes,
                       .absorbs = "residual factors"};
}  // namespace stormcell
