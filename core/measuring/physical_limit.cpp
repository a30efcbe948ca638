#include "core/measuring/physical_limit.h"

#include <algorithm>
#include <map>

namespace stormcell {
namespace {

struct Loads {
  std::vector<double> of_branch;
  double cells = 0;
};

std::map<ValueId, Loads> loads_of(const Program& program, const ExecutionResult& result, int32_t& turns) {
  std::map<ValueId, Loads> loads;
  for (const ExecutedDecision& d : result.decisions) {
    const ProgramRouter& router = program.routers[d.router];
    Loads& of = loads[program.graph->node(router.node).outputs[0]];
    of.of_branch.resize(d.shape.branches, 0);
    of.cells += static_cast<double>(d.shape.cells);
    for (const int32_t choice : d.choice)
      if (is_kept(choice)) ++of.of_branch[choice];
    if (router.repeat != kNone) turns = std::max(turns, d.turn + 1);
  }
  return loads;
}

}  // namespace

CostCase executed_case(const Program& program, const ExecutionResult& result, const Bindings& bindings) {
  CostCase of;
  of.bindings = bindings;
  int32_t turns = 0;
  for (auto& [decision, loads] : loads_of(program, result, turns)) {
    // A router without cells gave none to any branch.
    for (double& load : loads.of_branch) load = loads.cells > 0 ? load / loads.cells : 0;
    of.shares.set(decision, std::move(loads.of_branch));
  }
  const Graph& graph = *program.graph;
  for (size_t i = 0; i < program.raggeds.size() && i < result.ragged_cells.size(); ++i) {
    const ValueId ragged = program.operands[program.raggeds[i]].value;
    const double all = graph.space(graph.value(ragged).type.space).count.evaluate(bindings);
    if (all > 0) of.shares.set_present(ragged, result.ragged_cells[i] / all);
  }
  if (turns > 0) of.turns = turns;
  double hits = 0, misses = 0;
  for (const int32_t n : result.guard_hits) hits += n;
  for (const int32_t n : result.guard_misses) misses += n;
  if (hits + misses > 0) of.guard_hits = hits / (hits + misses);
  return of;
}

}  // namespace stormcell
