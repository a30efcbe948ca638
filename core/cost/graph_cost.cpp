#include "core/cost/graph_cost.h"

#include <algorithm>
#include <set>

#include "core/base/number_format.h"
#include "core/graph/roles.h"

namespace stormcell {
namespace {

class Costing {
 public:
  Costing(const Graph& graph, const CostCase& of)
      : g_(graph),
        case_(of),
        context_{graph, [this](SpaceId s) { return rows(s); }, of.bindings,
                 [this](ValueId d, int32_t branch) {
                   return rows(g_.value(d).type.space) * case_.shares.of(g_, d, branch);
                 }} {}

  GraphCost run() {
    block(g_.top, 1);
    cost_.cells = cells();
    return std::move(cost_);
  }

 private:
  double rows(SpaceId space) const { return space == kNone ? 1 : case_.shares.rows(g_, space, case_.bindings); }

  void block(const Block& block, double times) {
    for (const NodeId id : block.nodes) {
      const Node& n = g_.node(id);
      add(id, times);
      if (has_role(n, Role::guard)) {
        this->block(n.bodies[0], times * case_.guard_hits);
        this->block(n.bodies[1], times * (1 - case_.guard_hits));
      } else if (has_role(n, Role::repeat)) {
        const double most = Dim::parse(n.attributes.word("most"), g_.symbols, n.name).evaluate(case_.bindings);
        this->block(n.bodies[0], times * std::min(most, case_.turns.value_or(most)));
      }
    }
  }

  void add(NodeId id, double times) {
    const Node& n = g_.node(id);
    NodeCost node;
    node.node = id;
    node.times = times;
    const ValueId over = !n.outputs.empty() ? n.outputs[0] : !n.inputs.empty() ? n.inputs[0] : kNone;
    const SpaceId space = over == kNone ? kNone : g_.value(over).type.space;
    node.rows = over == kNone ? 0 : rows(space);
    if (n.op->cost && times > 0) node.cost = n.op->cost(context_, n);
    node.cost.flops *= times;
    node.cost.weight_bytes *= times;
    node.cost.activation_bytes *= times;
    for (const ValueId v : n.inputs) {
      const Value& w = g_.value(v);
      node.is_bf16 = node.is_bf16 || (w.kind == ValueKind::weight && format_of(w.type.dtype).own_products &&
                                      w.type.content.size() > 1 && !is_precise(n));
    }
    cost_.total.flops += node.cost.flops;
    cost_.total.weight_bytes += node.cost.weight_bytes;
    cost_.total.activation_bytes += node.cost.activation_bytes;
    cost_.nodes.push_back(std::move(node));
  }

  /// Tokens of all routed stacks, each stack once.
  double cells() const {
    std::set<SpaceId> spaces;
    for (const NodeCost& n : cost_.nodes)
      for (const ValueId v : g_.node(n.node).outputs)
        if (g_.value(v).kind == ValueKind::decision) spaces.insert(g_.dense_ancestor(g_.value(v).type.space));
    if (spaces.empty())
      for (const Value& v : g_.values)
        if (v.kind == ValueKind::input && v.type.space != kNone) {
          spaces.insert(v.type.space);
          break;
        }
    double sum = 0;
    for (const SpaceId s : spaces) sum += rows(s);
    return sum;
  }

  const Graph& g_;
  const CostCase& case_;
  CostContext context_;
  GraphCost cost_;
};

}  // namespace

double NodeCost::seconds(const MachineCeilings& machine) const {
  const double peak = is_bf16 ? machine.bf16_flops : machine.f32_flops;
  return std::max(cost.bytes() / machine.read_bytes, cost.flops / peak);
}

double GraphCost::limit_seconds(const MachineCeilings& machine) const {
  double sum = 0;
  for (const NodeCost& n : nodes) sum += n.seconds(machine);
  return sum;
}

GraphCost cost_of(const Graph& graph, const CostCase& of) { return Costing(graph, of).run(); }

}  // namespace stormcell
