// Routers of which each branch got every profiled cell or none: the region behind them becomes
//   guard { the region without sending; then the decisions, and whether they are the same } { decisions and region as
//   they were }
// The branches wait for no decision, which a device that runs several things at once computes beside them. A miss has
// computed the branches in vain. If the decision itself is what costs, a guard saves nothing: `approximate` leaves it
// out, and the answers of cells that would have gone elsewhere are wrong.
#include "core/passes/permanent_path.h"

#include <algorithm>

#include "core/graph/roles.h"
#include "core/passes/constant_routers.h"

namespace stormcell {
namespace {

class PermanentPath : public ConstantRouters {
 public:
  explicit PermanentPath(const PassInput& input)
      : ConstantRouters(input, "permanent-path"), approximate_(input.is_on(kApproximate)) {}

 private:
  std::optional<Obstacle> make_straight(const Region& region, TakenBranches taken) override {
    StraightRegion straight(rewriter_, region, std::move(taken));
    if (std::optional<Obstacle> why = straight.obstacle()) return why;
    if (std::optional<Obstacle> why = without_kernels(straight.operators_of_make())) return why;
    if (std::optional<Obstacle> why; !approximate_ && (why = without_kernels(straight.operators_of_holds())))
      return why;
    const std::set<ValueId> weighed = straight.weighed();
    if (approximate_ && !weighed.empty()) return Obstacle{*weighed.begin(), "what it chose is weighed by its scores"};
    for (const ValueId d : region.decisions)
      if (!decides_for_it_alone(region, d)) return Obstacle{d, "others ask for its decision"};
    const std::vector<NodeId> deciding = only_deciding(region);
    if (reads_what_is_behind(region, deciding)) return depends_on_it();
    std::vector<NodeId> nodes = deciding;
    nodes.insert(nodes.end(), region.nodes.begin(), region.nodes.end());
    const std::optional<size_t> first = rewriter_.bring_together(region.block, nodes);
    if (!first) return depends_on_it();
    if (approximate_)
      leave_decisions_out(region, straight, *first, nodes.size());
    else
      decide_behind(region, straight, deciding, *first, std::move(nodes));
    return {};
  }

  /// Replaces `count` nodes from `first` on: those that decide and those behind them.
  void leave_decisions_out(const Region& region, StraightRegion& straight, size_t first, size_t count) {
    const Rewriter::Body body = straight.make();
    ValueMap now;
    for (size_t i = 0; i < region.gathers.size(); ++i) now[graph().node(region.gathers[i]).outputs[0]] = body.yields[i];
    rewriter_.substitute(now);
    rewriter_.replace_run(region.block, first, count, body.nodes);
  }

  /// Replaces `nodes`, which begin at `first` and become the fallback.
  void decide_behind(const Region& region, StraightRegion& straight, const std::vector<NodeId>& deciding, size_t first,
                     std::vector<NodeId> nodes) {
    const bool weights_wait = !straight.weighed().empty();
    ValueMap copies;
    std::vector<NodeId> copied;
    for (const NodeId id : deciding) copied.push_back(rewriter_.clone(id, copies));
    Rewriter::Body body = straight.make(copies);
    // Only weights of choices wait for the decision.
    body.nodes.insert(weights_wait ? body.nodes.begin() : body.nodes.end(), copied.begin(), copied.end());
    body.yields.push_back(straight.holds(copies, body.nodes));
    Rewriter::Body fallback{std::move(nodes), joined(region)};
    rewriter_.guard_run(region.block, first, {}, kNone, std::move(body), std::move(fallback),
                        name_of(region, "permanent"), "permanent-path");
  }

  /// It is made in the region's block, and nothing but the region asks for it.
  bool decides_for_it_alone(const Region& region, ValueId decision) const {
    const std::vector<NodeId>& block = block_at(graph(), region.block).nodes;
    return std::find(block.begin(), block.end(), graph().value(decision).producer) != block.end() &&
           Uses(graph()).are_of(decision, {region.nodes.begin(), region.nodes.end()});
  }

  /// A decision asks for what the branches of another one gave: it cannot be made behind them and be one guard with it.
  bool reads_what_is_behind(const Region& region, const std::vector<NodeId>& deciding) const {
    std::set<ValueId> behind;
    for (const NodeId id : region.nodes)
      behind.insert(graph().node(id).outputs.begin(), graph().node(id).outputs.end());
    return std::any_of(deciding.begin(), deciding.end(), [&](NodeId id) {
      const std::vector<ValueId>& inputs = graph().node(id).inputs;
      return std::any_of(inputs.begin(), inputs.end(), [&](ValueId v) { return behind.contains(v); });
    });
  }

  /// Nodes that only the region's decisions need, in running order, their routers among them.
  std::vector<NodeId> only_deciding(const Region& region) const {
    const std::vector<NodeId>& block = block_at(graph(), region.block).nodes;
    const Uses uses(graph());
    std::set<NodeId> deciding;
    for (const ValueId d : region.decisions) deciding.insert(graph().value(d).producer);
    for (auto node = block.rbegin(); node != block.rend(); ++node) {
      const std::vector<ValueId>& outputs = graph().node(*node).outputs;
      const bool asked = std::any_of(outputs.begin(), outputs.end(), [&](ValueId v) { return uses.counts[v] > 0; });
      if (asked && may_wait(*node) &&
          std::all_of(outputs.begin(), outputs.end(), [&](ValueId v) { return uses.are_of(v, deciding); }))
        deciding.insert(*node);
    }
    std::vector<NodeId> list;
    for (const NodeId id : block)
      if (deciding.contains(id)) list.push_back(id);
    return list;
  }

  /// How often each value is used, and by whom.
  struct Uses {
    explicit Uses(const Graph& of) : graph(of), users(of.users()), counts(count_uses(of)) {}
    /// Nobody but these nodes uses it.
    bool are_of(ValueId v, const std::set<NodeId>& nodes) const {
      int64_t by_them = 0;
      for (const NodeId user : std::set<NodeId>(users[v].begin(), users[v].end()))
        if (nodes.contains(user))
          by_them += std::count(graph.node(user).inputs.begin(), graph.node(user).inputs.end(), v);
      return by_them == counts[v];
    }
    const Graph& graph;
    IdVector<ValueId, std::vector<NodeId>> users;
    IdVector<ValueId, int32_t> counts;
  };

  /// It has outputs and nothing else, and reads no state, which may be another one later.
  bool may_wait(NodeId id) const {
    const Node& node = graph().node(id);
    const bool plain = has_role(node, Role::compute) || has_role(node, Role::pointwise) || has_role(node, Role::attend);
    return plain && !node.outputs.empty() && std::none_of(node.inputs.begin(), node.inputs.end(), [&](ValueId v) {
             return graph().value(v).kind == ValueKind::state;
           });
  }

  bool approximate_;
};

}  // namespace

PassResult permanent_path(const PassInput& input) {
  PermanentPath pass(input);
  PassResult result = pass.run();
  if (!result.applied) return result;
  const bool approximate = input.is_on(kApproximate);
  result.same_bits = result.decides = !approximate;
  result.reason =
      (approximate ? "approximate: " : "") +
      pass.reason(approximate ? "their decisions are not computed, and nothing shows when they would differ"
                              : "their branches run without waiting for the decision, which is checked afterwards");
  return result;
}

}  // namespace stormcell
