#include "tests/testing/wrong_plans.h"

#include <set>
#include <utility>

#include "core/graph/operator.h"
#include "core/graph/roles.h"

namespace stormcell::testing {
namespace {

/// Swaps two weights of one shape: those of two branches in a node that works for all of them, else the first two in
/// the graph.
void swap_weights(Graph& graph) {
  std::vector<std::pair<NodeId, size_t>> weights;
  const auto swap_if_alike = [&](std::pair<NodeId, size_t> a, std::pair<NodeId, size_t> b) {
    ValueId &first = graph.node(a.first).inputs[a.second], &second = graph.node(b.first).inputs[b.second];
    if (first == second || graph.value(first).type != graph.value(second).type) return false;
    std::swap(first, second);
    return true;
  };
  graph.for_each_node([&](NodeId id, int) {
    const Node& node = graph.node(id);
    for (size_t i = 0; i < node.inputs.size(); ++i)
      if (graph.value(node.inputs[i]).kind == ValueKind::weight && graph.value(node.inputs[i]).type.content.size() > 1)
        weights.emplace_back(id, i);
  });
  for (const auto& [id, input] : weights)
    if (has_role(graph.node(id), Role::grouped) && owned_inputs(graph.node(id)) > 1 && swap_if_alike({id, 2}, {id, 3}))
      return;
  for (size_t b = 1; b < weights.size(); ++b)
    for (size_t a = 0; a < b; ++a)
      if (swap_if_alike(weights[a], weights[b])) return;
}

/// A softmax over the one choice of a cell gives 1.
bool weights_are_one(const Graph& graph, const Node& gather) {
  const ValueId decision = graph.space(graph.value(gather.inputs[0]).type.space).decision;
  if (decision == kNone || graph.value(decision).producer == kNone) return false;
  const Node& router = graph.node(graph.value(decision).producer);
  return graph.value(decision).fan_out == 1 && router.attributes.word("softmax", "before") == "after";
}

}  // namespace

std::vector<WrongPlan> wrong_plans(const Graph& plan) {
  std::vector<WrongPlan> wrong{{"two weights are swapped", plan}};
  swap_weights(wrong.front().graph);
  std::set<std::string> made;
  plan.for_each_node([&](NodeId id, int) {
    const Node& node = plan.node(id);
    const auto change = [&](const std::string& mistake, const char* attribute, Attribute value) {
      if (!made.insert(mistake).second) return;
      wrong.push_back({mistake + ": " + node.name, plan});
      wrong.back().graph.node(id).attributes.set(attribute, std::move(value));
    };
    if (node.op->folds_as == "scale") change("a scale is left out", "factor", 1.0);
    if (node.attributes.word("activation", "none") != "none")
      change("an activation is left out", "activation", std::string("none"));
    if (node.attributes.has("eps")) change("an eps is doubled", "eps", 2 * node.attributes.real("eps"));
  });
  return wrong;
}

std::vector<WrongPlan> wrong_decisions(const Graph& plan) {
  std::vector<WrongPlan> wrong;
  std::set<std::string> made;
  plan.for_each_node([&](NodeId id, int) {
    const Node& node = plan.node(id);
    const auto change = [&](const std::string& mistake, const char* attribute, Attribute value) {
      if (!made.insert(mistake).second) return;
      wrong.push_back({mistake + ": " + node.name, plan});
      wrong.back().graph.node(id).attributes.set(attribute, std::move(value));
    };
    if (node.op->name == "branches_empty" || node.op->name == "branches_full") {
      // Every cell has all branches of a router whose fan-out is their number, and each of them tells as much as all.
      const Value& decision = plan.value(node.inputs[0]);
      std::vector<int64_t> asked = node.attributes.list("branches");
      asked.pop_back();
      if (!asked.empty() && decision.fan_out < decision.branches)
        change("a guard asks for one branch less", "branches", std::move(asked));
    }
    if (is_route(node) && node.attributes.has("scale"))
      change("weights of choices are doubled", "scale", 2 * node.attributes.real("scale"));
    if (has_role(node, Role::close) && node.attributes.word("mode") == "weighted" && !weights_are_one(plan, node))
      change("weights of choices are left out", "mode", std::string("sum"));
  });
  return wrong;
}

}  // namespace stormcell::testing
