#include "core/exits/exit_chain.h"

#include <algorithm>

#include "core/cost/graph_cost.h"
#include "core/graph/protocol_attributes.h"
#include "core/graph/roles.h"

namespace stormcell {
namespace {

/// Operations of one item that goes on at the first `passed` routers and leaves at the next.
double operations(const Graph& graph, const std::vector<ValueId>& decisions, const ExitChain& chain, size_t passed) {
  CostCase of;
  of.bindings = Bindings(graph.symbols.size(), 1);
  for (size_t r = 0; r < decisions.size(); ++r) {
    std::vector<double> shares(2, 0.0);
    const size_t leave = residual_branch(chain.tests[r].rule);
    shares[r < passed ? 1 - leave : leave] = 1;
    of.shares.set(decisions[r], std::move(shares));
  }
  return cost_of(graph, of).total.flops;
}

}  // namespace

std::optional<size_t> ExitChain::test_of(std::string_view router) const {
  const auto at = std::find_if(tests.begin(), tests.end(), [&](const ExitTest& t) { return t.router == router; });
  return at == tests.end() ? std::nullopt : std::optional(static_cast<size_t>(at - tests.begin()));
}

std::vector<std::string> ExitChain::routers() const {
  std::vector<std::string> names;
  for (const ExitTest& test : tests) names.push_back(test.router);
  return names;
}

std::optional<ExitChain> exit_chain(const Graph& graph, const TaskAnswer& answer) {
  if (answer.task != Task::classification) return std::nullopt;
  ExitChain chain;
  std::vector<ValueId> decisions;
  bool fits = true;
  graph.for_each_node([&](NodeId id, int depth) {
    const Node& n = graph.node(id);
    if (!is_route(n)) return;
    const Protocol rule = protocol_of(n.attributes);
    const TensorType& scores = graph.value(n.inputs[0]).type;
    const CellSpace& cells = graph.space(scores.space);
    const bool first = cells.kind == SpaceKind::root;
    const bool next = !decisions.empty() && cells.kind == SpaceKind::routed && cells.decision == decisions.back() &&
                      cells.branch == 1 - residual_branch(chain.tests.back().rule);
    fits = fits && depth == 0 && rule.kind == ProtocolKind::exit_threshold && residual_branch(rule) < 2 &&
           (decisions.empty() ? first : next) && scores.content.size() == 1 &&
           scores.content[0].constant() == answer.classes;
    chain.tests.push_back({n.name, rule});
    decisions.push_back(n.outputs[0]);
  });
  if (!fits || decisions.empty()) return std::nullopt;
  for (size_t passed = 0; passed <= decisions.size(); ++passed)
    chain.costs.push_back(operations(graph, decisions, chain, passed));
  chain.whole = chain.costs.back();
  for (double& cost : chain.costs) cost = chain.whole > 0 ? cost / chain.whole : 1;
  return chain;
}

}  // namespace stormcell
