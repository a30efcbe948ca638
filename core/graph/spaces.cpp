#include "core/graph/spaces.h"

namespace stormcell {
namespace {

SpaceId add(Graph& graph, CellSpace space) {
  graph.spaces.push_back(std::move(space));
  return static_cast<SpaceId>(graph.spaces.size()) - 1;
}

}  // namespace

SpaceId routed_space(Graph& graph, ValueId decision, int32_t branch) {
  for (size_t i = 0; i < graph.spaces.size(); ++i)
    if (graph.spaces[i].decision == decision && graph.spaces[i].branch == branch) return static_cast<SpaceId>(i);
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
  return add(graph, std::move(s));
}

SpaceId ragged_space(Graph& graph, ValueId ragged, SpaceId parent) {
  for (size_t i = 0; i < graph.spaces.size(); ++i)
    if (graph.spaces[i].offsets == ragged && graph.spaces[i].parent == parent) return static_cast<SpaceId>(i);
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
  return add(graph, std::move(s));
}

Dim ragged_parents(const Graph& graph, ValueId ragged) {
  const Value& r = graph.value(ragged);
  return graph.space(graph.space(r.type.space).parent).count * Dim(r.fan_out);
}

Dim ragged_cells(const Graph& graph, ValueId ragged) {
  const Value& r = graph.value(ragged);
  return graph.space(r.type.space).count * Dim(r.fan_out);
}

}  // namespace stormcell
