#include "core/passes/region.h"

#include <algorithm>
#include <set>

#include "core/base/disjoint_sets.h"
#include "core/graph/roles.h"

namespace stormcell {
namespace {

bool lies_in(const Graph& graph, SpaceId space, std::span<const ValueId> decisions) {
  return std::any_of(decisions.begin(), decisions.end(),
                     [&](ValueId d) { return branch_within(graph, space, d).has_value(); });
}

/// Whether a node joins branches of the decisions in cells outside of them all.
bool closes(const Graph& graph, const Node& node, std::span<const ValueId> decisions) {
  return has_role(node, Role::close) && !lies_in(graph, graph.value(node.outputs[0]).type.space, decisions);
}

int depth_of(const Graph& graph, ValueId decision) {
  int steps = 0;
  for (SpaceId s = graph.value(decision).type.space; s != kNone; s = graph.space(s).parent) ++steps;
  return steps;
}

/// Sets of decisions of a block that gathers tie together.
class Ties {
 public:
  Ties(const Graph& graph, BlockPlace place)
      : graph_(graph), decisions_(decisions_of(graph, place)), sets_(decisions_.size()) {
    for (const NodeId id : block_at(graph, place).nodes)
      if (has_role(graph.node(id), Role::close)) tie(graph.node(id));
  }

  /// The decisions tied to `decision`, itself among them, in the order of decisions_of().
  std::vector<ValueId> with(ValueId decision) const {
    const size_t at = std::find(decisions_.begin(), decisions_.end(), decision) - decisions_.begin();
    std::vector<ValueId> set;
    for (size_t i = 0; i < decisions_.size(); ++i)
      if (sets_.lowest_with(i) == sets_.lowest_with(at)) set.push_back(decisions_[i]);
    return set;
  }

 private:
  /// All decisions that its rows leave on their way to its own cells.
  void tie(const Node& gather) {
    const SpaceId target = graph_.value(gather.outputs[0]).type.space;
    std::optional<size_t> first;
    for (size_t i = 0; i < joined_inputs(gather); ++i)
      for (SpaceId s = graph_.value(gather.inputs[i]).type.space; s != kNone; s = graph_.space(s).parent) {
        const ValueId decision = graph_.space(s).decision;
        const auto at = std::find(decisions_.begin(), decisions_.end(), decision);
        // A branch that was opened outside of the block is no part of it.
        if (decision == kNone || at == decisions_.end() || branch_within(graph_, target, decision)) continue;
        const size_t mine = at - decisions_.begin();
        if (!first) first = mine;
        sets_.join(mine, *first);
      }
  }

  const Graph& graph_;
  std::vector<ValueId> decisions_;
  DisjointSets sets_;
};

class RegionFinder {
 public:
  RegionFinder(const Graph& graph, BlockPlace place, std::vector<ValueId> decisions)
      : graph_(graph), place_(place), decisions_(std::move(decisions)) {}

  std::vector<Region> find() {
    for (const NodeId id : block_at(graph_, place_).nodes) visit(id);
    std::map<size_t, Region> regions;  // by the first node of each, so that they come in running order
    for (size_t i = 0; i < members_.size(); ++i) {
      Region& region = regions[sets_.lowest_with(i)];
      region.nodes.push_back(members_[i]);
      if (closes(graph_, graph_.node(members_[i]), decisions_)) region.gathers.push_back(members_[i]);
    }
    std::vector<Region> found;
    for (auto& [first, region] : regions) {
      region.block = place_;
      finish(region);
      found.push_back(std::move(region));
    }
    return found;
  }

 private:
  void visit(NodeId id) {
    const Node& node = graph_.node(id);
    std::vector<size_t> makers;
    for (const ValueId v : reads_of(graph_, id))
      if (const auto at = inside_.find(v); at != inside_.end()) makers.push_back(at->second);
    const auto in_branch = [&](ValueId v) { return lies_in(graph_, graph_.value(v).type.space, decisions_); };
    if (makers.empty() && std::none_of(node.outputs.begin(), node.outputs.end(), in_branch)) return;
    const size_t mine = sets_.add();
    members_.push_back(id);
    for (const size_t maker : makers) sets_.join(mine, maker);
    if (closes(graph_, node, decisions_)) return;
    for (const ValueId v : node.outputs) inside_.emplace(v, mine);
  }

  void finish(Region& region) {
    std::set<ValueId> inside;
    for (const NodeId id : region.nodes) {
      const Node& node = graph_.node(id);
      if (!closes(graph_, node, decisions_)) inside.insert(node.outputs.begin(), node.outputs.end());
      if (const std::set<ValueId> states = states_written(graph_, id); !states.empty())
        object(region, node_text(node) + " writes the state " + graph_.value(*states.begin()).name);
      if (has_effect(*node.op) && node.bodies.empty())
        object(region, node_text(node) + " acts on more than its outputs");
      if (!factored_inputs(node).empty()) object(region, node_text(node) + " multiplies the rows that it joins");
    }
    for (const ValueId d : decisions_)
      if (std::any_of(region.nodes.begin(), region.nodes.end(),
                      [&](NodeId id) { return opens(graph_, graph_.node(id), d); })) {
        region.decisions.push_back(d);
        region.branches[d] = branches_computed(region, d);
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

  std::vector<int32_t> branches_computed(const Region& region, ValueId decision) const {
    std::set<int32_t> branches;
    for (const NodeId id : region.nodes) {
      const Node& node = graph_.node(id);
      if (sends_by(graph_, node) == decision)
        for (const int32_t b : branches_sent(graph_, node)) branches.insert(b);
      for (const ValueId v : node.outputs)
        if (const auto b = branch_within(graph_, graph_.value(v).type.space, decision)) branches.insert(*b);
    }
    branches.erase(kAllBranches);
    // Slots that all branches share belong to every branch.
    if (branches.empty())
      for (int32_t b = 0; b < graph_.value(decision).branches; ++b) branches.insert(b);
    return {branches.begin(), branches.end()};
  }
  static void object(Region& region, std::string why) {
    if (region.obstacle.empty()) region.obstacle = std::move(why);
  }

  const Graph& graph_;
  BlockPlace place_;
  std::vector<ValueId> decisions_;
  std::vector<NodeId> members_;
  DisjointSets sets_;                 // sets of the members, by place
  std::map<ValueId, size_t> inside_;  // value -> the member that makes it
};

}  // namespace

std::optional<int32_t> branch_within(const Graph& graph, SpaceId space, ValueId decision) {
  for (; space != kNone; space = graph.space(space).parent)
    if (graph.space(space).kind == SpaceKind::routed && graph.space(space).decision == decision)
      return graph.space(space).branch;
  return {};
}

std::vector<int32_t> branches_of_node(const Graph& graph, ValueId decision, NodeId id) {
  std::set<int32_t> branches;
  const auto add = [&](const std::vector<ValueId>& values) {
    for (const ValueId v : values)
      if (const auto b = branch_within(graph, graph.value(v).type.space, decision)) branches.insert(*b);
  };
  add(graph.node(id).outputs);
  if (!branches.empty()) return {branches.begin(), branches.end()};
  const std::vector<ValueId> reads = reads_of(graph, id);
  add(reads);
  // A flag made of flags lives in no cells, nor does what it reads: what a guard within the branch asks.
  for (const ValueId v : reads)
    if (const Value& read = graph.value(v); read.type.space == kNone && read.producer != kNone)
      for (const int32_t b : branches_of_node(graph, decision, read.producer)) branches.insert(b);
  return {branches.begin(), branches.end()};
}

const std::string& router_name(const Graph& graph, ValueId decision) {
  return graph.node(graph.value(decision).producer).name;
}

std::vector<ValueId> decisions_of(const Graph& graph, BlockPlace place) {
  std::vector<ValueId> decisions;
  std::set<ValueId> seen;
  for (const NodeId id : block_at(graph, place).nodes) {
    const Node& node = graph.node(id);
    const ValueId d = sends_by(graph, node);
    if (d != kNone && opens(graph, node, d) && seen.insert(d).second) decisions.push_back(d);
  }
  std::stable_sort(decisions.begin(), decisions.end(),
                   [&](ValueId a, ValueId b) { return depth_of(graph, a) < depth_of(graph, b); });
  return decisions;
}

std::vector<Region> find_regions(const Graph& graph, BlockPlace place, ValueId decision) {
  std::vector<Region> regions = RegionFinder(graph, place, Ties(graph, place).with(decision)).find();
  std::erase_if(regions, [&](const Region& r) { return !r.branches.contains(decision); });
  return regions;
}

Region part_behind(const Graph& graph, const Region& region, std::span<const ValueId> decisions) {
  Region part;
  part.decisions.assign(decisions.begin(), decisions.end());
  part.block = region.block;
  part.obstacle = region.obstacle;
  for (const ValueId d : decisions) part.branches[d] = region.branches.at(d);
  std::set<ValueId> inside;
  for (const NodeId id : region.nodes) {
    const Node& node = graph.node(id);
    const std::vector<ValueId> reads = reads_of(graph, id);
    const bool behind = std::any_of(reads.begin(), reads.end(), [&](ValueId v) { return inside.contains(v); });
    const bool in_branch = std::any_of(node.outputs.begin(), node.outputs.end(),
                                       [&](ValueId v) { return lies_in(graph, graph.value(v).type.space, decisions); });
    if (!behind && !in_branch) continue;
    part.nodes.push_back(id);
    if (std::find(region.gathers.begin(), region.gathers.end(), id) != region.gathers.end()) {
      part.gathers.push_back(id);
    } else {
      inside.insert(node.outputs.begin(), node.outputs.end());
    }
  }
  return part;
}

}  // namespace stormcell
