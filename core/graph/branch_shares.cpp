#include "core/graph/branch_shares.h"

#include <algorithm>

namespace stormcell {

double BranchShares::of(const Graph& graph, ValueId decision, int32_t branch) const {
  const Value& d = graph.value(decision);
  const auto recorded = shares_.find(decision);
  if (branch == kAllBranches) {
    if (recorded == shares_.end()) return d.fan_out;
    double sum = 0;
    for (const double share : recorded->second) sum += share;
    return sum;
  }
  if (recorded == shares_.end()) return static_cast<double>(d.fan_out) / d.branches;
  return static_cast<size_t>(branch) < recorded->second.size() ? recorded->second[branch] : 0;
}

double BranchShares::of_any(const Graph& graph, ValueId decision, const std::vector<int32_t>& branches) const {
  double sum = 0, missed = 1;
  for (size_t i = 0; i < branches.size(); ++i) {
    if (branches[i] == kAllBranches) return 1;
    if (std::find(branches.begin(), branches.begin() + i, branches[i]) != branches.begin() + i) continue;
    const double share = of(graph, decision, branches[i]);
    sum += share;
    missed *= 1 - std::min(1.0, share);
  }
  const Value& d = graph.value(decision);
  if (d.fan_out == 1) return std::min(1.0, sum);
  if (is_recorded(decision)) return 1 - missed;
  // k of n distinct branches, all alike: all k must lie among the others.
  const auto n = static_cast<double>(d.branches), m = static_cast<double>(branches.size());
  double none = 1;
  for (int32_t i = 0; i < d.fan_out; ++i) none *= std::max(0.0, n - m - i) / (n - i);
  return 1 - none;
}

double BranchShares::rows(const Graph& graph, SpaceId space, const Bindings& bindings) const {
  const CellSpace& s = graph.space(space);
  if (s.kind == SpaceKind::root) return static_cast<double>(s.count.evaluate(bindings));
  if (s.kind == SpaceKind::ragged) {
    const double base = rows(graph, s.base, bindings);
    if (!graph.holds_members(space)) return base * cells_present(s.offsets);
    // The space has as large a part of the base's cells as the routed parents are of all.
    const CellSpace& above = graph.space(s.parent);
    return base * of(graph, above.decision, above.branch);
  }
  const double above = rows(graph, s.parent, bindings);
  if (s.kind == SpaceKind::dense) return above * static_cast<double>(s.per_parent.evaluate(bindings));
  return above * of(graph, s.decision, s.branch);
}

}  // namespace stormcell
