#include "core/graph/hoist.h"

#include <algorithm>
#include <iterator>

#include "core/base/id_vector.h"
#include "core/graph/roles.h"
#include "core/graph/router_flow.h"

namespace stormcell {
namespace {

class Search {
 public:
  Search(const Graph& graph, const Bindings& bindings, const BranchShares& shares)
      : g_(graph),
        bindings_(bindings),
        shares_(shares),
        users_(graph.users()),
        sources_(graph.values.size()),
        is_output_(graph.values.size(), false) {
    g_.for_each_node([&](NodeId id, int) { order_.push_back(id); });
    const auto successors = value_successors(g_);
    for (const ValueId v : successors.ids())
      for (const ValueId w : successors[v]) sources_[w].push_back(v);
    for (const NamedValue& o : g_.outputs) is_output_[o.value] = true;
    for (const Node& n : g_.nodes)
      for (const auto& yield : n.yields)
        for (const ValueId v : yield) is_output_[v] = true;
  }

  std::vector<Hoist> run() {
    std::vector<Hoist> hoists;
    for (const NodeId id : order_)
      if (is_route(g_.node(id))) hoists.push_back(of_router(id));
    return hoists;
  }

  Hoist of_router(NodeId router) {
    const Node& route = g_.node(router);
    Hoist hoist;
    hoist.router = router;
    hoist.decision = route.outputs[0];
    hoist.name = route.name;
    const IdVector<ValueId, bool> cone = cone_of(hoist.decision);
    for (const NodeId id : order_)
      for (const ValueId v : g_.node(id).outputs)
        if (cone[v] && v != hoist.decision) hoist.cone.push_back(v);
    for (const ValueId v : g_.values.ids())
      if (cone[v] && (g_.value(v).kind == ValueKind::input || g_.value(v).kind == ValueKind::state))
        hoist.sources.push_back(v);

    // Backwards: a node may wait when all that it feeds are scatters of this decision, or nodes that wait.
    std::map<NodeId, std::vector<int32_t>> waiting;  // and to which branches its cells must go to need it
    for (size_t i = order_.size(); i-- > 0;) {
      const NodeId id = order_[i];
      std::vector<int32_t> branches;
      if (!may_wait(id, hoist.decision, cone) || !needed_by(id, hoist.decision, waiting, branches)) continue;
      std::sort(branches.begin(), branches.end());
      branches.erase(std::unique(branches.begin(), branches.end()), branches.end());
      waiting.emplace(id, std::move(branches));
    }
    const SpaceId space = g_.value(hoist.decision).type.space;
    for (const NodeId id : order_) {
      const auto w = waiting.find(id);
      if (w == waiting.end()) continue;
      const double saved = 1 - shares_.of_any(g_, hoist.decision, w->second);
      constexpr double kNothing = 1e-9;
      if (saved < kNothing) continue;
      const CostContext one{g_, [&](SpaceId s) { return s == space ? 1.0 : 0.0; }, bindings_,
                            [](ValueId, int32_t) { return 0.0; }};
      const Cost cost = g_.node(id).op->cost(one, g_.node(id));
      hoist.nodes.push_back(id);
      hoist.flops += saved * cost.flops;
      hoist.bytes += saved * cost.activation_bytes;
    }
    return hoist;
  }

 private:
  /// Everything from which the decision is computed.
  IdVector<ValueId, bool> cone_of(ValueId decision) const {
    IdVector<ValueId, bool> cone(g_.values.size(), false);
    std::vector<ValueId> open{decision};
    cone[decision] = true;
    while (!open.empty()) {
      const ValueId v = open.back();
      open.pop_back();
      for (const ValueId from : sources_[v]) {
        if (cone[from]) continue;
        cone[from] = true;
        open.push_back(from);
      }
    }
    return cone;
  }

  /// Not needed for the decision, over its cells, cell by cell, without effect.
  bool may_wait(NodeId id, ValueId decision, const IdVector<ValueId, bool>& cone) const {
    const Node& n = g_.node(id);
    const SpaceId space = g_.value(decision).type.space;
    constexpr Role kHoisted[] = {Role::compute, Role::pointwise, Role::attend, Role::unfold};
    if (n.outputs.empty() || std::find(std::begin(kHoisted), std::end(kHoisted), n.op->role) == std::end(kHoisted))
      return false;
    for (const ValueId v : n.outputs)
      if (cone[v] || is_output_[v] || g_.value(v).type.space != space || g_.value(v).kind == ValueKind::decision)
        return false;
    for (size_t i = 0; i < n.inputs.size(); ++i) {
      if (g_.value(n.inputs[i]).kind == ValueKind::state) return false;  // it may be written before the node would run
      const Mix mix = n.op->flow ? n.op->flow(g_, n, i).mix : Mix::batch;
      if (mix != Mix::cell && mix != Mix::none) return false;
    }
    return true;
  }

  /// True when only scatters of `decision` and waiting nodes use it; collects the branches that need it.
  bool needed_by(NodeId id, ValueId decision, const std::map<NodeId, std::vector<int32_t>>& waiting,
                 std::vector<int32_t>& branches) const {
    bool used = false;
    for (const ValueId v : g_.node(id).outputs)
      for (const NodeId user : users_[v]) {
        const Node& u = g_.node(user);
        used = true;
        if (has_role(u, Role::open) && sends_by(g_, u) == decision) {
          const std::vector<int32_t> sent = branches_sent(g_, u);
          branches.insert(branches.end(), sent.begin(), sent.end());
        } else if (const auto w = waiting.find(user); w != waiting.end()) {
          branches.insert(branches.end(), w->second.begin(), w->second.end());
        } else {
          return false;
        }
      }
    return used;
  }

  const Graph& g_;
  const Bindings& bindings_;
  const BranchShares& shares_;
  std::vector<NodeId> order_;
  IdVector<ValueId, std::vector<NodeId>> users_;
  IdVector<ValueId, std::vector<ValueId>> sources_;
  IdVector<ValueId, bool> is_output_;
};

}  // namespace

Hoist find_hoist(const Graph& graph, ValueId decision, const Bindings& bindings, const BranchShares& shares) {
  return Search(graph, bindings, shares).of_router(graph.value(decision).producer);
}

std::vector<Hoist> find_hoists(const Graph& graph, const Bindings& bindings, const BranchShares& shares) {
  return Search(graph, bindings, shares).run();
}

}  // namespace stormcell
