#include "core/runtime/cell_chain.h"

namespace stormcell {

std::vector<CellLink> cell_chain(const Graph& graph, SpaceId space, SpaceId ancestor) {
  std::vector<CellLink> chain;
  for (; space != ancestor; space = graph.origin(space)) {
    const CellSpace& s = graph.space(space);
    if (s.kind == SpaceKind::routed) {
      chain.push_back({s.decision, false, s.branch, kNone});
      continue;
    }
    CellLink link{s.offsets, true, kAllBranches, kNone};
    if (graph.holds_members(space)) {
      link.branch = graph.space(s.parent).branch;
      link.decision = graph.space(s.parent).decision;
    }
    chain.push_back(link);
  }
  return chain;
}

std::vector<ValueId> values_of(const std::vector<CellLink>& chain) {
  std::vector<ValueId> values;
  for (const CellLink& link : chain) {
    values.push_back(link.defined_by);
    if (link.decision != kNone) values.push_back(link.decision);
  }
  return values;
}

bool has_distinct_cells(const Graph& graph, const std::vector<CellLink>& chain) {
  for (const CellLink& link : chain)
    if (link.branch == kAllBranches && graph.value(link.defined_by).fan_out > 1) return false;
  return true;
}

CellChain::CellChain(const std::vector<CellLink>& links, size_t first) {
  for (const CellLink& link : links) {
    links_.push_back({first++, link.ragged, link.branch, 0});
    if (link.decision != kNone) links_.back().decision = first++;
  }
}

}  // namespace stormcell
