// Time from bytes, FLOP and steps: the closed-form cost of every node that runs, and a fixed cost for each.
#include <algorithm>

#include "core/cost/graph_cost.h"
#include "core/graph/operator.h"
#include "core/passes/pass.h"

namespace stormcell {
namespace {

BranchShares shares_of(const Graph& graph, const LoadProfile& profile) {
  BranchShares shares;
  for (size_t v = 0; v < graph.values.size(); ++v) {
    const Value& d = graph.values[v];
    if (d.kind != ValueKind::decision || d.producer == kNone) continue;
    const auto at = profile.routers.find(graph.node(d.producer).name);
    if (at == profile.routers.end() || at->second.load.size() != static_cast<size_t>(d.branches)) continue;
    std::vector<double> parts;
    for (const int64_t n : at->second.load)
      parts.push_back(at->second.cells > 0 ? static_cast<double>(n) / static_cast<double>(at->second.cells) : 0);
    shares.set(static_cast<ValueId>(v), std::move(parts));
  }
  return shares;
}

bool is_routed(const Graph& graph, SpaceId space) {
  for (; space != kNone; space = graph.space(space).parent)
    if (graph.space(space).kind == SpaceKind::routed) return true;
  return false;
}

}  // namespace

double predict_milliseconds(const Graph& graph, const LoadProfile& profile, const MachineModel& machine, const Bindings& bindings) {
  CostCase of;
  of.bindings = bindings;
  of.bindings.resize(graph.symbols.size(), 1);
  of.shares = shares_of(graph, profile);
  const MachineCeilings ceilings{machine.peak_f32_gflops * 1e9, machine.peak_bf16_gflops * 1e9, machine.read_gbps * 1e9};
  double seconds = 0;
  const GraphCost cost = cost_of(graph, of);
  for (const NodeCost& n : cost.nodes) {
    const Node& node = graph.node(n.node);
    if (n.times <= 0 || (n.cost.bytes() <= 0 && n.cost.flops <= 0)) continue;  // a look at a counter is no step
    // As the plan places it: a scatter runs where its flow lives, everything else where its result lives.
    SpaceId place = kNone;
    if (!node.outputs.empty()) place = graph.value(node.op->name == "scatter" ? node.inputs[0] : node.outputs[0]).type.space;
    const double present = is_routed(graph, place) ? std::min(1.0, of.shares.rows(graph, place, of.bindings)) : 1;
    seconds += n.seconds(ceilings) + n.times * present * machine.step_microseconds * 1e-6;
  }
  return seconds * 1e3;
}

}  // namespace stormcell
