#include "core/passes/region.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "core/graph/roles.h"

namespace stormcell {
namespace {

std::string quoted_node(const Node& node) { return std::string(node.op->name) + " \"" + node.name + "\""; }

/// A gather whose result lives outside of the decision's branches.
bool closes(const Graph& graph, const Node& node, ValueId decision) {
  return has_role(node, Role::close) && !branch_within(graph, graph.value(node.outputs[0]).type.space, decision);
}

class RegionFinder {
 public:
  RegionFinder(const Graph& graph, BlockPlace place, ValueId decision) : graph_(graph), place_(place), decision_(decision) {}

  std::vector<Region> find() {
    for (const NodeId id : block_at(graph_, place_).nodes) visit(id);
    std::map<size_t, Region> regions;  // by the first node of each, so that they come in running order
    for (size_t i = 0; i < members_.size(); ++i) {
      Region& region = regions[root(i)];
      region.nodes.push_back(members_[i]);
      if (closes(graph_, graph_.node(members_[i]), decision_)) region.gathers.push_back(members_[i]);
    }
    std::vector<Region> found;
    for (auto& [first, region] : regions) {
      region.decision = decision_;
      region.block = place_;
      finish(region);
      found.push_back(std::move(region));
    }
    return found;
  }

 private:
  size_t root(size_t i) const {
    while (parent_[i] != i) i = parent_[i];
    return i;
  }
  void join(size_t a, size_t b) {
    a = root(a), b = root(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

  void visit(NodeId id) {
    const Node& node = graph_.node(id);
    std::vector<size_t> makers;
    for (const ValueId v : reads_of(graph_, id))
      if (const auto at = inside_.find(v); at != inside_.end()) makers.push_back(at->second);
    if (makers.empty() && !opens(graph_, node, decision_)) return;
    const size_t mine = members_.size();
    members_.push_back(id);
    parent_.push_back(mine);
    for (const size_t maker : makers) join(mine, maker);
    if (closes(graph_, node, decision_)) return;
    for (const ValueId v : node.outputs) inside_.emplace(v, mine);
  }

  void finish(Region& region) {
    std::set<int32_t> branches;
    std::set<ValueId> inside;
    for (const NodeId id : region.nodes) {
      const Node& node = graph_.node(id);
      if (sends_by(graph_, node) == decision_)
        for (const int32_t b : branches_sent(graph_, node))
          if (b != kAllBranches) branches.insert(b);
      for (const ValueId v : node.outputs) {
        const std::optional<int32_t> b = branch_within(graph_, graph_.value(v).type.space, decision_);
        if (b && *b != kAllBranches) branches.insert(*b);
        if (!closes(graph_, node, decision_)) inside.insert(v);
      }
      if (const std::set<ValueId> states = states_written(graph_, id); !states.empty())
        object(region, quoted_node(node) + " writes the state " + graph_.value(*states.begin()).name);
      if (has_effect(*node.op) && node.bodies.empty()) object(region, quoted_node(node) + " acts on more than its outputs");
    }
    // Slots that all branches share belong to every branch.
    if (branches.empty())
      for (int32_t b = 0; b < graph_.value(decision_).branches; ++b) branches.insert(b);
    region.branches.assign(branches.begin(), branches.end());

    for (const NodeId id : region.gathers) {
      const Node& node = graph_.node(id);
      for (size_t i = 0; i < plain_inputs(node); ++i)
        if (!inside.contains(node.inputs[i])) object(region, quoted_node(node) + " joins rows of other routers too");
    }
    if (region.gathers.empty()) object(region, "no gather joins its branches");
    const auto left_open = [&](ValueId v) {
      if (inside.contains(v)) object(region, "%" + graph_.value(v).name + " leaves its branches without a gather");
    };
    if (place_.owner == kNone) {
      for (const NamedValue& output : graph_.outputs) left_open(output.value);
    } else {
      for (const ValueId v : graph_.node(place_.owner).yields[place_.body]) left_open(v);
    }
  }
  static void object(Region& region, std::string why) {
    if (region.obstacle.empty()) region.obstacle = std::move(why);
  }

  const Graph& graph_;
  BlockPlace place_;
  ValueId decision_;
  std::vector<NodeId> members_;
  std::vector<size_t> parent_;
  std::map<ValueId, size_t> inside_;  // value -> the member that makes it
};

}  // namespace

std::optional<int32_t> branch_within(const Graph& graph, SpaceId space, ValueId decision) {
  for (; space != kNone; space = graph.space(space).parent)
    if (graph.space(space).kind == SpaceKind::routed && graph.space(space).decision == decision) return graph.space(space).branch;
  return {};
}

std::vector<int32_t> branches_of_node(const Graph& graph, const Region& region, NodeId id) {
  std::set<int32_t> branches;
  const auto add = [&](const std::vector<ValueId>& values) {
    for (const ValueId v : values)
      if (const auto b = branch_within(graph, graph.value(v).type.space, region.decision)) branches.insert(*b);
  };
  add(graph.node(id).outputs);
  if (branches.empty()) add(reads_of(graph, id));
  return {branches.begin(), branches.end()};
}

const std::string& router_name(const Graph& graph, ValueId decision) { return graph.node(graph.value(decision).producer).name; }

std::vector<ValueId> decisions_of(const Graph& graph, BlockPlace place) {
  std::vector<ValueId> decisions;
  std::set<ValueId> seen;
  for (const NodeId id : block_at(graph, place).nodes) {
    const Node& node = graph.node(id);
    const ValueId d = sends_by(graph, node);
    if (d != kNone && opens(graph, node, d) && seen.insert(d).second) decisions.push_back(d);
  }
  const auto depth = [&](ValueId d) {
    int steps = 0;
    for (SpaceId s = graph.value(d).type.space; s != kNone; s = graph.space(s).parent) ++steps;
    return steps;
  };
  std::stable_sort(decisions.begin(), decisions.end(), [&](ValueId a, ValueId b) { return depth(a) < depth(b); });
  return decisions;
}

std::vector<Region> find_regions(const Graph& graph, BlockPlace place, ValueId decision) {
  return RegionFinder(graph, place, decision).find();
}

}  // namespace stormcell
