// A node before a router moves into one of its branches if it feeds that branch alone and the decision does not need it
// (find_hoist):
//   y = f(x); s = scatter(y, decision)   becomes   s = f(scatter(x, decision))
// It then runs for the cells that go there, and not at all where none does: behind an exit, for the cells that go on.
// No guard is needed: it computes the same for any input, cell by cell, bit for bit. The profile only says whether it
// is worth it.
#include "core/passes/reorder.h"

#include <algorithm>

#include "core/base/counted.h"
#include "core/graph/hoist.h"
#include "core/graph/rewrite.h"
#include "core/graph/roles.h"
#include "core/passes/profiled_branches.h"
#include "core/passes/reasons.h"
#include "core/passes/region.h"

namespace stormcell {
namespace {

class Reorder {
 public:
  explicit Reorder(const PassInput& input) : input_(input), rewriter_(input.graph) {}

  PassResult run() {
    // Outer routers first: what moved into a branch may wait for a router there as well.
    for (const BlockPlace place : blocks_of(graph(), Fallbacks::included))
      for (const ValueId decision : decisions_of(graph(), place)) {
        if (!is_route(graph().node(graph().value(decision).producer))) continue;
        seen_.insert(router_name(graph(), decision));
        const std::vector<int32_t> branches = worth_it(decision);
        if (!branches.empty() && sends_work(place, decision)) wait_for(place, decision, branches);
      }
    PassResult result;
    result.applied = !moved_.empty();
    result.graph = result.applied ? rewriter_.finish() : input_.graph;
    for (const auto& [router, branches] : moved_)
      result.parameters[router] = branch_list({branches.begin(), branches.end()});
    result.reason = reason();
    return result;
  }

 private:
  using Copies = std::map<std::pair<ValueId, SpaceId>, ValueId>;  ///< copies of values, in the spaces of branches

  const Graph& graph() const { return rewriter_.graph(); }

  /// Branches that few enough cells go to, or those that the parameters name.
  std::vector<int32_t> worth_it(ValueId decision) const {
    const std::string& router = router_name(graph(), decision);
    if (input_.parameters) {
      const auto named = input_.parameters->find(router);
      return named == input_.parameters->end() ? std::vector<int32_t>()
                                               : branches_named(graph(), "reorder", router, named->second);
    }
    const auto profiled = input_.profile.routers.find(router);
    if (profiled == input_.profile.routers.end()) return {};
    const auto [loads, cells] = load_in_use(profiled->second, decides_about_real_cells(graph(), router));
    const double most = (1 - input_.option(kLeastSaved)) * static_cast<double>(cells);
    std::vector<int32_t> branches;
    for (size_t b = 0; b < loads.size(); ++b)
      if (loads[b] < cells && static_cast<double>(loads[b]) <= most) branches.push_back(static_cast<int32_t>(b));
    return branches;
  }

  /// Rows go to single branches as they are, and lie there as anywhere.
  bool only_sends(NodeId id, ValueId decision) const {
    const Node& node = graph().node(id);
    return has_role(node, Role::open) && sends_by(graph(), node) == decision && node.annotations.empty() &&
           std::all_of(node.outputs.begin(), node.outputs.end(), [&](ValueId v) {
             const CellSpace& space = graph().space(graph().value(v).type.space);
             return space.kind == SpaceKind::routed && space.decision == decision && space.branch != kAllBranches &&
                    graph().value(v).annotations.empty();
           });
  }
  /// A look that costs nothing before one that goes through the whole graph: some scatter sends what a plain node
  /// makes.
  bool sends_work(BlockPlace place, ValueId decision) const {
    const std::vector<NodeId>& block = block_at(graph(), place).nodes;
    return std::any_of(block.begin(), block.end(), [&](NodeId id) {
      if (!only_sends(id, decision)) return false;
      const NodeId maker = graph().value(graph().node(id).inputs[0]).producer;
      return maker != kNone &&
             (has_role(graph().node(maker), Role::pointwise) || has_role(graph().node(maker), Role::compute));
    });
  }

  /// A node whose copy in a branch is made of copies of its inputs.
  bool may_be_copied(NodeId id, ValueId decision) const {
    const Node& node = graph().node(id);
    const SpaceId cells = graph().value(decision).type.space;
    return !names_spaces(node) && node.bodies.empty() &&
           std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId v) {
             const Value& input = graph().value(v);
             const bool rows = input.kind != ValueKind::decision && input.kind != ValueKind::ragged;
             return rows && (input.type.space == kNone || input.type.space == cells);
           });
  }

  /// The nodes that move, each with its branch: all that they feed is sent there, or moves there. Backwards, as they
  /// depend on one another.
  std::map<NodeId, SpaceId> nodes_that_wait(BlockPlace place, ValueId decision,
                                            const std::vector<int32_t>& branches) const {
    BranchShares shares;
    std::vector<double> all(graph().value(decision).branches, 1.0);
    for (const int32_t b : branches) all[b] = 0;
    shares.set(decision, std::move(all));
    const Hoist hoist = find_hoist(graph(), decision, Bindings(graph().symbols.size(), 1), shares);
    const std::vector<NodeId>& block = block_at(graph(), place).nodes;
    const std::set<NodeId> here(block.begin(), block.end());
    const auto users = graph().users();
    const IdVector<ValueId, int32_t> uses = count_uses(graph());
    std::map<NodeId, SpaceId> waiting;
    for (auto id = hoist.nodes.rbegin(); id != hoist.nodes.rend(); ++id) {
      if (!here.contains(*id) || !may_be_copied(*id, decision)) continue;
      std::set<SpaceId> needed_in;  // kNone: elsewhere
      for (const ValueId v : graph().node(*id).outputs)
        for (const NodeId user : users[v]) {
          if (const auto at = waiting.find(user); at != waiting.end()) {
            needed_in.insert(at->second);
          } else if (here.contains(user) && only_sends(user, decision)) {
            for (const ValueId sent : graph().node(user).outputs)
              if (uses[sent] > 0) needed_in.insert(graph().value(sent).type.space);
          } else {
            needed_in.insert(SpaceId(kNone));
          }
        }
      if (needed_in.size() == 1 && *needed_in.begin() != kNone) waiting.emplace(*id, *needed_in.begin());
    }
    return waiting;
  }

  void wait_for(BlockPlace place, ValueId decision, const std::vector<int32_t>& branches) {
    const std::map<NodeId, SpaceId> waiting = nodes_that_wait(place, decision, branches);
    if (waiting.empty()) return;
    std::vector<NodeId> order;
    ValueMap now;
    Copies copies;
    for (const NodeId id : std::vector<NodeId>(block_at(graph(), place).nodes)) {
      if (waiting.contains(id)) continue;
      const Node node = graph().node(id);
      const NodeId maker = only_sends(id, decision) ? graph().value(node.inputs[0]).producer : NodeId(kNone);
      const auto at = maker == kNone ? waiting.end() : waiting.find(maker);
      if (at == waiting.end()) {
        order.push_back(id);
        continue;
      }
      for (const ValueId sent : node.outputs)
        if (graph().value(sent).type.space == at->second)
          now[sent] = copy(node.inputs[0], at->second, waiting, copies, order);
    }
    rewriter_.substitute(now);
    block_at(rewriter_.graph(), place).nodes = std::move(order);
    const std::string& router = router_name(graph(), decision);
    for (const auto& [id, space] : waiting) moved_[router].insert(graph().space(space).branch);
    nodes_ += waiting.size();
  }

  /// A value for the cells of a branch alone: what waits is made there, anything else is sent there.
  ValueId copy(ValueId v, SpaceId space, const std::map<NodeId, SpaceId>& waiting, Copies& copies,
               std::vector<NodeId>& order) {
    if (graph().value(v).type.space == kNone) return v;
    if (const auto at = copies.find({v, space}); at != copies.end()) return at->second;
    const NodeId maker = graph().value(v).producer;
    if (maker == kNone || !waiting.contains(maker)) {
      const ValueId decision = graph().space(space).decision;
      const NodeId sends = rewriter_.make_node("scatter", {v, decision}, {{"spaces", std::vector{int64_t{space}}}},
                                               router_name(graph(), decision) + ".waited");
      order.push_back(sends);
      return copies[{v, space}] = graph().node(sends).outputs[0];
    }
    const Node node = graph().node(maker);
    std::vector<ValueId> inputs;
    for (const ValueId input : node.inputs) inputs.push_back(copy(input, space, waiting, copies, order));
    const NodeId made = rewriter_.make_node(node.op->name, std::move(inputs), node.attributes, node.name);
    rewriter_.take_annotations(made, maker);
    order.push_back(made);
    for (size_t i = 0; i < node.outputs.size(); ++i) copies[{node.outputs[i], space}] = graph().node(made).outputs[i];
    return copies.at({v, space});
  }

  std::string reason() const {
    if (!moved_.empty()) {
      Refusals refusals;
      if (input_.parameters)
        for (const auto& [router, branches] : *input_.parameters)
          if (!seen_.contains(router)) refusals.emplace_back(router, kNoSuchRouter);
      return with_refusals(counted(static_cast<int64_t>(nodes_), "node") + " before " +
                               counted(std::ssize(moved_), "router") +
                               " wait for the decision: only cells of one branch need them",
                           refusals);
    }
    if (input_.profile.routers.empty() && !input_.parameters) return kNoRouterProfiled;
    return "no work before a router can wait for its decision: the decision or most cells need all of it";
  }

  const PassInput& input_;
  Rewriter rewriter_;
  std::map<std::string, std::set<int32_t>> moved_;  // by router: the branches that take work
  std::set<std::string> seen_;
  size_t nodes_ = 0;
};

}  // namespace

PassResult reorder(const PassInput& input) { return Reorder(input).run(); }

}  // namespace stormcell
