// Common parts of operators that work on all slots of a decision: their cells, and their weights.
#pragma once
#include <algorithm>

#include "core/graph/operator.h"

namespace stormcell {

/// The node has `of_branch` inputs for each of its branches behind x and the decision, then its extras, and works on
/// the slots of its decision or on the members of them all. x lives there, or over the decision's own cells, where
/// slots are asked for: then each slot reads its cell's row.
inline SpaceId expect_grouped(const Graph& g, const Node& n, size_t of_branch) {
  const std::vector<int64_t>& branches = n.attributes.list("branches");
  const size_t inputs = 2 + branches.size() * of_branch + extra_count(n);
  expect_inputs(n, inputs, inputs);
  expect_decision(g, n, 1);
  const Value& decision = g.value(n.inputs[1]);
  const SpaceId cells(n.attributes.integer("slots")), slots = g.holds_members(cells) ? g.space(cells).parent : cells;
  if (g.space(slots).decision != n.inputs[1] || g.space(slots).branch != kAllBranches)
    operator_error(n, "the slots of its decision", "space " + to_text(cells));
  const TensorType& x = input_type(g, n, 0);
  if (x.space != cells && (cells != slots || x.space != decision.type.space))
    operator_error(n, "x over the decision's slots or cells", type_text(g, x));
  if (branches.empty()) operator_error(n, "at least one branch", "none");
  for (const int64_t b : branches)
    if (b < 0 || b >= decision.branches)
      operator_error(n, "branches below " + std::to_string(decision.branches), std::to_string(b));
  return cells;
}

/// The weights from input `first` on, one for each branch, are alike.
inline void expect_alike(const Graph& g, const Node& n, size_t first) {
  const TensorType& of_first = input_type(g, n, first);
  for (size_t i = first; i < first + n.attributes.list("branches").size(); ++i) {
    expect_shared(g, n, i, of_first.content);
    if (const TensorType& w = input_type(g, n, i); w.dtype != of_first.dtype)
      operator_error(n, "weights of one format, " + type_text(g, of_first), type_text(g, w));
  }
}

/// Bytes of the inputs that serve branches, of those that get cells.
inline double grouped_weight_bytes(const CostContext& c, const Node& n) {
  const std::vector<int64_t>& branches = n.attributes.list("branches");
  const size_t first = 2, end = n.inputs.size() - extra_count(n);
  double bytes = 0;
  for (size_t i = first; i < end; ++i)
    bytes += std::min(1.0, c.load(n.inputs[1], static_cast<int32_t>(branches[(i - first) % branches.size()]))) *
             value_bytes(c, n.inputs[i]);
  return bytes;
}

}  // namespace stormcell
