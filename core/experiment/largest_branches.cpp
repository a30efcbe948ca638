#include "core/experiment/largest_branches.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/cost/graph_cost.h"
#include "core/graph/protocol_attributes.h"
#include "core/graph/roles.h"

namespace stormcell {
namespace {

/// Operations of each branch of a router, with these shares of the others. Nodes that stand for all branches at once do
/// not count: the branches then have one size.
std::vector<double> operations_by_branch(const Graph& graph, ValueId decision, const CostCase& of) {
  std::vector<double> sums(graph.value(decision).branches, 0.0);
  for (const NodeCost& cost : cost_of(graph, of).nodes)
    for (SpaceId space = place_of(graph, graph.node(cost.node)); space != kNone; space = graph.space(space).parent) {
      const CellSpace& cells = graph.space(space);
      if (cells.kind == SpaceKind::routed && cells.branch != kAllBranches && cells.decision == decision)
        sums[cells.branch] += cost.cost.flops;
    }
  return sums;
}

/// Nodes that no output needs once nothing is decided; what bodies hold is left alone.
std::set<NodeId> nodes_that_decide(const Graph& graph) {
  std::set<NodeId> needed;
  std::vector<ValueId> open;
  for (const NamedValue& output : graph.outputs) open.push_back(output.value);
  for (const NodeId id : graph.top.nodes)
    if (has_effect(*graph.node(id).op) || !graph.node(id).bodies.empty()) {
      needed.insert(id);
      open.insert(open.end(), graph.node(id).inputs.begin(), graph.node(id).inputs.end());
    }
  while (!open.empty()) {
    const NodeId maker = graph.value(open.back()).producer;
    open.pop_back();
    if (maker == kNone || is_route(graph.node(maker)) || !needed.insert(maker).second) continue;
    open.insert(open.end(), graph.node(maker).inputs.begin(), graph.node(maker).inputs.end());
  }
  std::set<NodeId> rest;
  for (const NodeId id : graph.top.nodes)
    if (!needed.contains(id)) rest.insert(id);
  return rest;
}

}  // namespace

std::optional<int32_t> gated_branch(const Node& route) {
  const Protocol rule = protocol_of(route.attributes);
  if (rule.kind != ProtocolKind::residual_threshold && rule.kind != ProtocolKind::exit_threshold) return std::nullopt;
  return 1 - residual_branch(rule);
}

std::optional<LargestBranches> LargestBranches::of(const Graph& graph, const std::vector<ValueId>& routed) {
  LargestBranches largest(graph);
  CostCase of;
  of.bindings = Bindings(graph.symbols.size(), 1);
  for (const ValueId decision : routed) {
    const Node& route = graph.node(graph.value(decision).producer);
    if (gated_branch(route) || protocol_of(route.attributes).kind == ProtocolKind::threshold) return std::nullopt;
    of.shares.set(decision, std::vector<double>(graph.value(decision).branches, 1.0));
  }
  // The innermost routers come first: a branch that contains a router is as large as the branches chosen there.
  for (auto at = routed.rbegin(); at != routed.rend(); ++at) {
    const ValueId decision = *at;
    const std::vector<double> operations = operations_by_branch(graph, decision, of);
    std::vector<size_t> order(operations.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return operations[a] > operations[b]; });
    std::vector<double> shares(order.size(), 0.0);
    for (size_t k = 0; k < order.size() && k < static_cast<size_t>(graph.value(decision).fan_out); ++k)
      shares[order[k]] = 1;
    of.shares.set(decision, shares);
    largest.shares_.set(decision, std::move(shares));
  }
  largest.decide_ = nodes_that_decide(graph);
  return largest;
}

double LargestBranches::operations(const Bindings& bindings) const {
  CostCase of;
  of.bindings = bindings, of.shares = shares_;
  double sum = 0;
  for (const NodeCost& cost : cost_of(*graph_, of).nodes)
    if (!decide_.contains(cost.node)) sum += cost.cost.flops;
  return sum;
}

}  // namespace stormcell
