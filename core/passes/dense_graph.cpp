// A value of a routed space is kept as its *dense* one, over the cells of the space that has no router above it.
// scatter vanishes: its outputs are its input. Plain nodes are made again over dense inputs. A node that asks for the
// decision's own cells (route, choice_weight, gather) gets the rows that were sent there: dense values, scattered down
// the chain of routers. A value that such a node gives to a branch goes back to all cells where it is asked for, zeros
// elsewhere.
#include "core/passes/dense_graph.h"

#include <algorithm>
#include <map>
#include <vector>

#include "core/graph/rewrite.h"
#include "core/graph/roles.h"

namespace stormcell {
namespace {

class Densifier {
 public:
  explicit Densifier(const Graph& graph) : rewriter_(graph) {}

  DenseGraph run() {
    const std::vector<NodeId> nodes = graph().top.nodes;
    bool routes = false;
    graph().for_each_node([&](NodeId id, int) { routes = routes || is_route(graph().node(id)); });
    if (!routes) return {{}, "the model has no routers"};
    for (const NodeId id : nodes) {
      take(id);
      if (!why_not_.empty()) return {{}, why_not_};
    }
    for (const NamedValue& output : graph().outputs)
      if (in_branch(graph().value(output.value).type.space)) return {{}, "output " + output.name + " lies in a branch"};
    rewriter_.graph().top.nodes = std::move(order_);
    return {rewriter_.finish(), {}};
  }

 private:
  const Graph& graph() const { return rewriter_.graph(); }
  bool in_branch(SpaceId s) const { return s != kNone && graph().space(s).kind == SpaceKind::routed; }
  SpaceId space_of(ValueId v) const { return graph().value(v).type.space; }
  bool is_decision(ValueId v) const { return graph().value(v).kind == ValueKind::decision; }

  bool touches_branch(const Node& n) const {
    const auto lies_there = [&](ValueId v) { return in_branch(space_of(v)); };
    return std::any_of(n.inputs.begin(), n.inputs.end(), lies_there) ||
           std::any_of(n.outputs.begin(), n.outputs.end(), lies_there);
  }

  /// The reason why a node cannot be dense.
  std::string obstacle(const Node& n) const {
    if (!n.bodies.empty()) return node_text(n) + " holds a region";
    if (has_effect(*n.op) && touches_branch(n)) return node_text(n) + " changes the state of a branch";
    for (const std::vector<ValueId>* list : {&n.inputs, &n.outputs})
      for (const ValueId v : *list) {
        if (graph().value(v).kind == ValueKind::ragged) return node_text(n) + " works on ragged cells";
        for (SpaceId s = space_of(v); s != kNone && graph().is_dynamic(s); s = graph().space(s).parent)
          if (!in_branch(s) || graph().space(s).branch == kAllBranches)
            return node_text(n) + " works on cells other than those of single branches";
      }
    return {};
  }

  void take(NodeId id) {
    const Node n = graph().node(id);
    why_not_ = obstacle(n);
    if (!why_not_.empty()) return;
    const bool asks =
        is_route(n) || std::any_of(n.inputs.begin(), n.inputs.end(), [&](ValueId v) { return is_decision(v); });
    const bool branch =
        std::any_of(n.inputs.begin(), n.inputs.end(), [&](ValueId v) { return in_branch(space_of(v)); });
    if (has_role(n, Role::open)) {
      const ValueId dense = dense_of(n.inputs[0]);
      for (const ValueId out : n.outputs) dense_[out] = dense;
    } else if (asks || has_role(n, Role::close)) {
      take_in_branch(id, n);
    } else if (branch) {
      take_densely(id, n);
    } else {
      order_.push_back(id);
    }
  }

  /// Stays where it is, with the rows that are sent there.
  void take_in_branch(NodeId id, const Node& n) {
    for (size_t i = 0; i < n.inputs.size(); ++i) {
      const ValueId rows = sent(n.inputs[i]);  // adds nodes
      rewriter_.graph().node(id).inputs[i] = rows;
    }
    order_.push_back(id);
    for (const ValueId out : n.outputs)
      if (!is_decision(out) && in_branch(space_of(out))) sent_[out] = out;
  }

  void take_densely(NodeId id, const Node& n) {
    for (size_t i = 0; i < n.inputs.size(); ++i)
      if (const Mix mix = n.op->flow(graph(), n, i).mix; names_spaces(n) || (mix != Mix::none && mix != Mix::cell)) {
        why_not_ = node_text(n) + " mixes cells of a branch";
        return;
      }
    std::vector<ValueId> inputs;
    for (const ValueId v : n.inputs) inputs.push_back(dense_of(v));
    const NodeId made = rewriter_.make_node(n.op->name, std::move(inputs), n.attributes, n.name);
    rewriter_.take_annotations(made, id);
    order_.push_back(made);
    for (size_t i = 0; i < n.outputs.size(); ++i) dense_[n.outputs[i]] = graph().node(made).outputs[i];
  }

  /// A value of a branch for all cells: with zeros elsewhere if it is there for the rows of the branch alone (the
  /// weight of a choice, what a gather within the branch joined). A value of no branch is itself.
  ValueId dense_of(ValueId v) {
    if (!in_branch(space_of(v)) || is_decision(v)) return v;
    if (const auto at = dense_.find(v); at != dense_.end()) return at->second;
    return dense_[v] = add("gather", {v},
                           {{"space", int64_t{graph().dense_ancestor(space_of(v))}}, {"mode", std::string("place")}},
                           graph().value(v).name + ".dense");
  }

  /// The rows of a value of a branch that were sent there; what is no value of a branch is itself.
  ValueId sent(ValueId v) {
    if (!in_branch(space_of(v)) || is_decision(v)) return v;
    if (const auto at = sent_.find(v); at != sent_.end()) return at->second;
    std::vector<SpaceId> chain;
    for (SpaceId s = space_of(v); in_branch(s); s = graph().space(s).parent) chain.push_back(s);
    ValueId rows = dense_of(v);
    for (auto s = chain.rbegin(); s != chain.rend(); ++s)
      rows = add("scatter", {rows, graph().space(*s).decision}, {{"spaces", std::vector<int64_t>{int64_t{*s}}}},
                 graph().value(v).name + ".sent");
    return sent_[v] = rows;
  }

  ValueId add(std::string_view op, std::vector<ValueId> inputs, Attributes attributes, const std::string& name) {
    const NodeId id = rewriter_.make_node(op, std::move(inputs), std::move(attributes), name);
    order_.push_back(id);
    return graph().node(id).outputs[0];
  }

  Rewriter rewriter_;
  std::vector<NodeId> order_;
  std::map<ValueId, ValueId> dense_;  // dense values of branches
  std::map<ValueId, ValueId> sent_;   // rows of these that were asked for
  std::string why_not_;
};

}  // namespace

DenseGraph dense_graph(const Graph& graph) { return Densifier(graph).run(); }

}  // namespace stormcell
