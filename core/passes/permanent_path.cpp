// A router of which each branch got every profiled cell or none: its region becomes
//   guard { the region without sending; then the decision, and whether it is the same } { the decision and the region as they were }
// The branches wait for no decision, which a device that runs several things at once computes beside them. A miss has computed the branches
// in vain. Where the decision itself is what costs, a guard saves nothing: `approximate` leaves it out, and the answers of cells that would
// have gone elsewhere are wrong.
#include "core/passes/permanent_path.h"

#include <algorithm>

#include "core/graph/roles.h"
#include "core/passes/constant_routers.h"

namespace stormcell {
namespace {

class PermanentPath : public ConstantRouters {
 public:
  explicit PermanentPath(const PassInput& input) : ConstantRouters(input, "permanent-path"), approximate_(input.is_on(kApproximate)) {}

 private:
  std::string make_straight(const Region& region, ValueId decision) override {
    StraightRegion straight(rewriter_, region, decision, taken(decision));
    if (std::string why = straight.obstacle(); !why.empty()) return why;
    const std::vector<NodeId> deciding = only_deciding(region, decision);
    if (deciding.empty()) return "others ask for its decision";
    std::vector<NodeId> nodes = deciding;
    nodes.insert(nodes.end(), region.nodes.begin(), region.nodes.end());
    const std::optional<size_t> first = rewriter_.bring_together(region.block, nodes);
    if (!first) return kDependsOnIt;
    Rewriter::Body body = straight.make();
    if (approximate_) {
      ValueMap now;
      for (size_t i = 0; i < region.gathers.size(); ++i) now[graph().node(region.gathers[i]).outputs[0]] = body.yields[i];
      rewriter_.substitute(now);
      rewriter_.replace_run(region.block, *first, nodes.size(), body.nodes);
      return {};
    }
    ValueMap copies;
    for (const NodeId id : deciding) body.nodes.push_back(rewriter_.clone(id, copies));
    body.yields.push_back(straight.holds(copies.at(decision), body.nodes));
    Rewriter::Body fallback{std::move(nodes), joined(region)};
    rewriter_.guard_run(region.block, *first, {}, kNone, std::move(body), std::move(fallback),
                        router_name(graph(), decision) + ".permanent", "permanent-path");
    return {};
  }

  /// What nobody needs but the decision, in running order, its router last; nothing where more than the region asks for the decision, or
  /// where it is made elsewhere.
  std::vector<NodeId> only_deciding(const Region& region, ValueId decision) const {
    const std::vector<NodeId>& block = block_at(graph(), region.block).nodes;
    const NodeId route = graph().value(decision).producer;
    const auto users = graph().users();
    const IdVector<ValueId, int32_t> uses = count_uses(graph());
    const auto serves_only = [&](ValueId v, const std::set<NodeId>& nodes) {
      int64_t by_them = 0;
      for (const NodeId user : std::set<NodeId>(users[v].begin(), users[v].end()))
        if (nodes.contains(user)) by_them += std::count(graph().node(user).inputs.begin(), graph().node(user).inputs.end(), v);
      return by_them == uses[v];
    };
    const auto at = std::find(block.begin(), block.end(), route);
    if (at == block.end() || !serves_only(decision, {region.nodes.begin(), region.nodes.end()})) return {};
    std::set<NodeId> deciding{route};
    std::vector<NodeId> list{route};
    for (auto node = std::make_reverse_iterator(at); node != block.rend(); ++node)
      if (may_wait(*node) && std::all_of(graph().node(*node).outputs.begin(), graph().node(*node).outputs.end(),
                                         [&](ValueId v) { return serves_only(v, deciding); })) {
        deciding.insert(*node);
        list.insert(list.begin(), *node);
      }
    return list;
  }

  /// It has outputs and nothing else, and reads no state, which may be another one later.
  bool may_wait(NodeId id) const {
    const Node& node = graph().node(id);
    const bool plain = has_role(node, Role::compute) || has_role(node, Role::pointwise) || has_role(node, Role::attend);
    return plain && !node.outputs.empty() &&
           std::none_of(node.inputs.begin(), node.inputs.end(), [&](ValueId v) { return graph().value(v).kind == ValueKind::state; });
  }

  bool approximate_;
};

}  // namespace

PassResult permanent_path(const PassInput& input) {
  PermanentPath pass(input);
  PassResult result = pass.run();
  if (!result.applied) return result;
  const bool approximate = input.is_on(kApproximate);
  result.same_bits = !approximate;
  result.reason = (approximate ? "approximate: " : "") +
                  pass.reason(approximate ? "their decisions are not computed, and nothing tells when they would be others"
                                          : "each decides behind what it decides");
  return result;
}

}  // namespace stormcell
