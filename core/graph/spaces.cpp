#include "core/graph/spaces.h"

namespace stormcell {

SpaceId routed_space(Graph& graph, ValueId decision, int32_t branch) {
  for (const SpaceId s : graph.spaces.ids())
    if (graph.space(s).decision == decision && graph.space(s).branch == branch) return s;
  return add_routed_space(graph, decision, branch);
}

SpaceId add_routed_space(Graph& graph, ValueId decision, int32_t branch) {
  const Value& d = graph.value(decision);
  const Dim& cells = graph.space(d.type.space).count;
  CellSpace s;
  s.name = d.name + "/" + (branch == kAllBranches ? std::string("slots") : std::to_string(branch));
  s.kind = SpaceKind::routed;
  s.parent = d.type.space;
  // One branch gets a cell at most once, so its bound is the cells; all slots together are cells x fan-out.
  s.count = branch == kAllBranches ? cells * Dim(d.fan_out) : cells;
  s.decision = decision;
  s.branch = branch;
  return graph.spaces.add(std::move(s));
}

SpaceId ragged_space(Graph& graph, ValueId ragged, SpaceId parent) {
  for (const SpaceId s : graph.spaces.ids())
    if (graph.space(s).offsets == ragged && graph.space(s).parent == parent) return s;
  const Value& r = graph.value(ragged);
  const CellSpace& above = graph.space(parent);
  CellSpace s;
  const bool members = parent != graph.space(r.type.space).parent;
  s.name = members ? above.name + "/" + graph.space(r.type.space).name : r.name;
  s.kind = SpaceKind::ragged;
  s.parent = parent;
  s.count = members && above.branch == kAllBranches ? ragged_cells(graph, ragged) : graph.space(r.type.space).count;
  s.offsets = ragged;
  s.base = r.type.space;
  return graph.spaces.add(std::move(s));
}

Dim ragged_parents(const Graph& graph, ValueId ragged) {
  const Value& r = graph.value(ragged);
  return graph.space(graph.space(r.type.space).parent).count * Dim(r.fan_out);
}

Dim ragged_cells(const Graph& graph, ValueId ragged) {
  const Value& r = graph.value(ragged);
  return graph.space(r.type.space).count * Dim(r.fan_out);
}

bool holds_items_in_order(const Graph& graph, SpaceId space) {
  while (space != kNone && graph.space(space).kind == SpaceKind::dense) space = graph.space(space).parent;
  return space != kNone && graph.space(space).kind == SpaceKind::root;
}

}  // namespace stormcell
