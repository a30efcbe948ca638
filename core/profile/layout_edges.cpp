#include "core/profile/layout_edges.h"

#include <algorithm>
#include <set>

namespace stormcell {

std::string edge_fault(const RunLayout& layout) {
  const int32_t routers = layout.routers.size();
  std::set<std::pair<int32_t, int32_t>> seen;
  for (const LayoutEdge& e : layout.edges) {
    const std::string name = "the edge from router " + std::to_string(e.from) + " to router " + std::to_string(e.to);
    if (e.from < 0 || e.from >= routers || e.to < 0 || e.to >= routers) return name + " names no router";
    if (e.from >= e.to) return name + " leads back";
    const RouterInfo &from = layout.routers[e.from], &to = layout.routers[e.to];
    if (from.space != to.space) return name + " leads to another cell space";
    if (!seen.emplace(e.from, e.to).second) return name + " is there twice";
    for (size_t i = 0; i < e.branches.size(); ++i)
      if (e.branches[i] < 0 || e.branches[i] >= from.branches || (i > 0 && e.branches[i] <= e.branches[i - 1]))
        return name + " has branches that " + from.name + " does not have";
  }
  return {};
}

std::vector<int32_t> edges_from(const RunLayout& layout, int32_t router) {
  std::vector<int32_t> edges;
  for (size_t e = 0; e < layout.edges.size(); ++e)
    if (layout.edges[e].from == router) edges.push_back(static_cast<int32_t>(e));
  return edges;
}

std::vector<int32_t> edges_to(const RunLayout& layout, int32_t router) {
  std::vector<int32_t> edges;
  for (size_t e = 0; e < layout.edges.size(); ++e)
    if (layout.edges[e].to == router) edges.push_back(static_cast<int32_t>(e));
  return edges;
}

int32_t find_edge(const RunLayout& layout, int32_t from, int32_t to) {
  const auto at = std::find_if(layout.edges.begin(), layout.edges.end(),
                               [&](const LayoutEdge& e) { return e.from == from && e.to == to; });
  return at == layout.edges.end() ? -1 : static_cast<int32_t>(at - layout.edges.begin());
}

std::vector<uint8_t> branch_flags(const RunLayout& layout, const LayoutEdge& edge) {
  if (edge.branches.empty()) return {};
  std::vector<uint8_t> flags(layout.routers[edge.from].branches);
  for (const int32_t b : edge.branches) flags[b] = 1;
  return flags;
}

std::vector<LayoutEdge> chain_edges(const RunLayout& layout) {
  std::vector<LayoutEdge> edges;
  for (size_t r = 0; r < layout.routers.size(); ++r)
    for (size_t before = r; before-- > 0;) {
      const RouterInfo &a = layout.routers[before], &b = layout.routers[r];
      if (a.stack != b.stack || a.space != b.space) continue;
      edges.push_back({static_cast<int32_t>(before), static_cast<int32_t>(r), {}});
      break;
    }
  return edges;
}

}  // namespace stormcell
