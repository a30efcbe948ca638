#include "core/graph/uses.h"

#include <algorithm>

#include "core/base/id_vector.h"
#include "core/graph/roles.h"

namespace stormcell {
namespace {

void add_blocks(const Graph& graph, BlockPlace place, Fallbacks fallbacks, std::vector<BlockPlace>& all) {
  all.push_back(place);
  for (const NodeId id : block_at(graph, place).nodes) {
    const Node& node = graph.node(id);
    for (size_t b = 0; b < node.bodies.size(); ++b)
      if (b == 0 || fallbacks == Fallbacks::included) add_blocks(graph, {id, b}, fallbacks, all);
  }
}

template <class Visit>
void visit_with_bodies(const Graph& graph, NodeId id, Visit& visit) {
  visit(id);
  for (const Block& body : graph.node(id).bodies)
    for (const NodeId inner : body.nodes) visit_with_bodies(graph, inner, visit);
}

}  // namespace

const Block& block_at(const Graph& graph, BlockPlace place) {
  return place.owner == kNone ? graph.top : graph.node(place.owner).bodies[place.body];
}
Block& block_at(Graph& graph, BlockPlace place) {
  return place.owner == kNone ? graph.top : graph.node(place.owner).bodies[place.body];
}

std::vector<BlockPlace> blocks_of(const Graph& graph, Fallbacks fallbacks) {
  std::vector<BlockPlace> all;
  add_blocks(graph, {}, fallbacks, all);
  return all;
}

std::vector<ValueId> reads_of(const Graph& graph, NodeId node) {
  if (graph.node(node).bodies.empty()) {
    std::vector<ValueId> reads;
    for (const ValueId v : graph.node(node).inputs)
      if (std::find(reads.begin(), reads.end(), v) == reads.end()) reads.push_back(v);
    return reads;
  }
  std::set<ValueId> made, seen;
  std::vector<ValueId> reads;
  auto collect = [&](NodeId id) { made.insert(graph.node(id).outputs.begin(), graph.node(id).outputs.end()); };
  visit_with_bodies(graph, node, collect);
  auto read = [&](NodeId id) {
    const auto add = [&](ValueId v) {
      if (!made.contains(v) && seen.insert(v).second) reads.push_back(v);
    };
    for (const ValueId v : graph.node(id).inputs) add(v);
    for (const auto& yields : graph.node(id).yields)
      for (const ValueId v : yields) add(v);
  };
  visit_with_bodies(graph, node, read);
  return reads;
}

std::set<ValueId> states_written(const Graph& graph, NodeId node) {
  std::set<ValueId> states;
  auto visit = [&](NodeId id) {
    if (const ValueId state = changed_state(graph, graph.node(id)); state != kNone) states.insert(state);
  };
  visit_with_bodies(graph, node, visit);
  return states;
}

IdVector<ValueId, int32_t> count_uses(const Graph& graph) {
  IdVector<ValueId, int32_t> uses(graph.values.size(), 0);
  graph.for_each_node([&](NodeId id, int) {
    for (const ValueId v : graph.node(id).inputs) ++uses[v];
    for (const auto& yields : graph.node(id).yields)
      for (const ValueId v : yields) ++uses[v];
  });
  for (const NamedValue& output : graph.outputs) ++uses[output.value];
  return uses;
}

void map_spaces(Node& node, const std::function<SpaceId(SpaceId)>& to) {
  std::vector<std::pair<std::string, Attribute>> changed;
  for (const auto& [key, value] : node.attributes) {
    if (!holds_spaces(*node.op, key)) continue;
    if (const auto* one = std::get_if<int64_t>(&value)) {
      changed.emplace_back(key, int64_t{to(SpaceId(*one))});
    } else if (const auto* list = std::get_if<std::vector<int64_t>>(&value)) {
      std::vector<int64_t> spaces;
      for (const int64_t s : *list) spaces.push_back(int64_t{to(SpaceId(s))});
      changed.emplace_back(key, std::move(spaces));
    }
  }
  for (auto& [key, value] : changed) node.attributes.set(key, std::move(value));
}

bool names_spaces(const Node& node) {
  return std::any_of(node.attributes.begin(), node.attributes.end(), [&](const auto& attribute) {
    if (!holds_spaces(*node.op, attribute.first)) return false;
    const auto* list = std::get_if<std::vector<int64_t>>(&attribute.second);
    return std::holds_alternative<int64_t>(attribute.second) || (list && !list->empty());
  });
}

int64_t stored_bytes(const Graph& graph, ValueId weight) { return graph.row_bytes(weight); }

}  // namespace stormcell
