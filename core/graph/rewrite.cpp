#include "core/graph/rewrite.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/graph/operator.h"
#include "core/graph/spaces.h"
#include "core/graph/verify.h"

namespace stormcell {

Rewriter::Rewriter(Graph graph) : graph_(std::move(graph)) {
  for (const Value& v : graph_.values) names_.add(v.name);
}

ValueId Rewriter::add_value(std::string_view name, ValueKind kind, TensorType type) {
  Value v;
  v.name = names_.take(name);
  v.kind = kind;
  v.type = std::move(type);
  return graph_.values.add(std::move(v));
}

void Rewriter::add_outputs(Node& node, NodeId id) {
  for (Result& r : infer_outputs(graph_, node)) {
    const ValueId v =
        add_value(node.name.empty() ? node.op->name : std::string_view(node.name), r.kind, std::move(r.type));
    graph_.value(v).producer = id;
    graph_.value(v).branches = r.branches;
    graph_.value(v).fan_out = r.fan_out;
    node.outputs.push_back(v);
  }
}

NodeId Rewriter::make_node(std::string_view op, std::vector<ValueId> inputs, Attributes attributes,
                           std::string_view name) {
  Node node;
  node.op = find_operator(op);
  if (!node.op) failed("graph", "no operator \"" + std::string(op) + "\"");
  node.name = std::string(name);
  node.inputs = std::move(inputs);
  node.attributes = std::move(attributes);
  const NodeId id = graph_.nodes.next_id();
  add_outputs(node, id);
  graph_.nodes.push_back(std::move(node));
  return id;
}

NodeId Rewriter::make_guard(ValueId predicate, Body taken, Body fallback, std::string_view name,
                            std::string_view pass) {
  Node node;
  node.op = find_operator("guard");
  node.name = std::string(name);
  if (predicate != kNone) node.inputs = {predicate};
  node.attributes.set("pass", std::string(pass));
  node.bodies = {{std::move(taken.nodes)}, {std::move(fallback.nodes)}};
  node.yields = {std::move(taken.yields), std::move(fallback.yields)};
  const NodeId id = graph_.nodes.next_id();
  add_outputs(node, id);
  for (size_t i = 0; i < node.outputs.size(); ++i)
    graph_.value(node.outputs[i]).annotations = graph_.value(node.yields[1][i]).annotations;
  graph_.nodes.push_back(std::move(node));
  return id;
}

void Rewriter::take_annotations(NodeId to, NodeId from, std::span<const size_t> of) {
  const std::vector<ValueId>& before = graph_.node(from).outputs;
  graph_.node(to).annotations = graph_.node(from).annotations;
  for (size_t i = 0; i < graph_.node(to).outputs.size(); ++i)
    graph_.value(graph_.node(to).outputs[i]).annotations = graph_.value(before.at(of.empty() ? i : of[i])).annotations;
}

SpaceId Rewriter::routed_space(ValueId decision, int32_t branch) {
  return stormcell::routed_space(graph_, decision, branch);
}

SpaceId Rewriter::space_of_copies(SpaceId id, const ValueMap& values) {
  if (id == kNone) return kNone;
  const CellSpace space = graph_.space(id);
  const SpaceId parent = space_of_copies(space.parent, values);
  if (space.kind == SpaceKind::routed) {
    const auto at = values.find(space.decision);
    return at == values.end() || at->second == space.decision ? id : routed_space(at->second, space.branch);
  }
  if (space.kind == SpaceKind::ragged) {
    const auto at = values.find(space.offsets);
    return at == values.end() || at->second == space.offsets ? id : ragged_space(graph_, at->second, parent);
  }
  if (parent == space.parent) return id;
  const std::string name = space.name + "/" + graph_.space(parent).name;
  for (const SpaceId known : graph_.spaces.ids())
    if (graph_.space(known).parent == parent && graph_.space(known).name == name) return known;
  CellSpace copy = space;
  copy.name = name;
  copy.parent = parent;
  return graph_.spaces.add(std::move(copy));
}

NodeId Rewriter::clone(NodeId original, ValueMap& values) {
  Node node = graph_.node(original);
  const auto map_list = [&](std::vector<ValueId>& list) {
    for (ValueId& v : list)
      if (const auto at = values.find(v); at != values.end()) v = at->second;
  };
  map_list(node.inputs);
  for (size_t b = 0; b < node.bodies.size(); ++b) {
    for (NodeId& inner : node.bodies[b].nodes) inner = clone(inner, values);
    map_list(node.yields[b]);
  }
  map_spaces(node, [&](SpaceId s) { return space_of_copies(s, values); });
  const NodeId id = graph_.nodes.next_id();
  for (ValueId& v : node.outputs) {
    Value copy = graph_.value(v);
    copy.name = names_.take(copy.name);
    copy.producer = id;
    copy.type.space = space_of_copies(copy.type.space, values);
    const ValueId made = graph_.values.add(std::move(copy));
    values[v] = made;
    v = made;
  }
  graph_.nodes.push_back(std::move(node));
  return id;
}

void Rewriter::substitute(const ValueMap& values, const std::set<NodeId>& except) {
  const auto map_list = [&](std::vector<ValueId>& list) {
    for (ValueId& v : list)
      if (const auto at = values.find(v); at != values.end()) v = at->second;
  };
  const auto walk = [&](auto&& self, const Block& block) -> void {
    for (const NodeId id : block.nodes) {
      if (except.contains(id)) continue;
      Node& node = graph_.node(id);
      map_list(node.inputs);
      for (size_t b = 0; b < node.bodies.size(); ++b) {
        self(self, node.bodies[b]);
        map_list(node.yields[b]);
      }
    }
  };
  walk(walk, graph_.top);
  for (NamedValue& output : graph_.outputs)
    if (const auto at = values.find(output.value); at != values.end()) output.value = at->second;
}

void Rewriter::replace_run(BlockPlace place, size_t first, size_t count, const std::vector<NodeId>& with) {
  std::vector<NodeId>& nodes = block_at(graph_, place).nodes;
  const auto begin = nodes.begin() + first;
  nodes.insert(nodes.erase(begin, begin + static_cast<std::ptrdiff_t>(count)), with.begin(), with.end());
}

NodeId Rewriter::guard_run(BlockPlace place, size_t first, std::vector<NodeId> before, ValueId predicate, Body taken,
                           Body fallback, std::string_view name, std::string_view pass) {
  const std::set<NodeId> inside(fallback.nodes.begin(), fallback.nodes.end());
  const std::vector<ValueId> joined = fallback.yields;
  const NodeId guard = make_guard(predicate, std::move(taken), std::move(fallback), name, pass);
  ValueMap now;
  for (size_t i = 0; i < joined.size(); ++i) now[joined[i]] = graph_.node(guard).outputs[i];
  substitute(now, inside);
  before.push_back(guard);
  replace_run(place, first, inside.size(), before);
  return guard;
}

std::optional<size_t> Rewriter::bring_together(BlockPlace place, std::span<const NodeId> members) {
  std::vector<NodeId>& nodes = block_at(graph_, place).nodes;
  const std::set<NodeId> wanted(members.begin(), members.end());
  const auto is_wanted = [&](NodeId id) { return wanted.contains(id); };
  const auto first = std::find_if(nodes.begin(), nodes.end(), is_wanted);
  const auto last = std::find_if(nodes.rbegin(), nodes.rend(), is_wanted).base();
  const size_t start = first - nodes.begin();
  if (static_cast<size_t>(last - first) == wanted.size()) return start;

  // Nodes go behind if they read, through whatever stands here, a value of the members.
  std::vector<NodeId> before, together, behind;
  std::set<ValueId> made, made_behind;
  for (auto at = first; at != last; ++at) {
    bool reads_made = false, reads_behind = false;
    for (const ValueId v : reads_of(graph_, *at)) {
      reads_made = reads_made || made.contains(v);
      reads_behind = reads_behind || made_behind.contains(v);
    }
    const std::vector<ValueId>& outputs = graph_.node(*at).outputs;
    if (is_wanted(*at)) {
      if (reads_behind) return {};
      together.push_back(*at);
      made.insert(outputs.begin(), outputs.end());
    } else if (reads_made || reads_behind) {
      behind.push_back(*at);
      made_behind.insert(outputs.begin(), outputs.end());
    } else {
      before.push_back(*at);
    }
  }
  std::vector<NodeId> order = before;
  order.insert(order.end(), together.begin(), together.end());
  order.insert(order.end(), behind.begin(), behind.end());
  if (!keeps_states(std::vector<NodeId>(first, last), order)) return {};
  std::copy(order.begin(), order.end(), first);
  return start + before.size();
}

bool Rewriter::keeps_states(const std::vector<NodeId>& from, const std::vector<NodeId>& to) const {
  // A state's reads and writes stay in their order; only reads among themselves may change places.
  const auto list = [&](const std::vector<NodeId>& order) {
    std::map<ValueId, std::vector<std::pair<NodeId, bool>>> lists;
    for (const NodeId id : order) {
      const std::set<ValueId> writes = states_written(graph_, id);
      for (const ValueId v : reads_of(graph_, id))
        if (graph_.value(v).kind == ValueKind::state) lists[v].emplace_back(id, writes.contains(v));
    }
    // Between two writes the order of the reads does not matter.
    for (auto& [state, uses] : lists)
      for (auto begin = uses.begin(); begin != uses.end();) {
        const auto end = std::find_if(begin, uses.end(), [](const auto& use) { return use.second; });
        std::sort(begin, end);
        begin = end == uses.end() ? end : end + 1;
      }
    return lists;
  };
  return list(from) == list(to);
}

Graph Rewriter::finish() {
  Graph graph = compact(graph_);
  verify(graph);
  return graph;
}

}  // namespace stormcell
