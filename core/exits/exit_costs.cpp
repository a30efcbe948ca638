#include "core/exits/exit_costs.h"

#include <memory>
#include <utility>

#include "core/bench/plan_graphs.h"

namespace stormcell {
namespace {

bool has_exits(const Graph& graph, const TaskAnswer& answer, const ExitChain& chain) {
  const std::optional<ExitChain> now = exit_chain(graph, answer);
  return now && now->routers() == chain.routers();
}

}  // namespace

std::optional<GraphOfSize> graphs_with_exits(const Workload& work, const PipelineResult& passed,
                                             const ExitChain& chain) {
  const ExperimentState& state = work.state();
  const LoadProfile none;
  const PassInput input = work.pass_input(none);
  std::shared_ptr<const Graph> graph;
  PassConfiguration kept;
  for (const PassOutcome& outcome : passed.outcomes) {
    if (!outcome.cumulative.applied) continue;
    PassConfiguration with = kept;
    with.emplace(outcome.pass->id, saved_parameters(outcome));
    PipelineResult again = replay_passes(input, with);
    if (!again.outcomes.back().cumulative.applied || !has_exits(again.graph, state.model->answer, chain)) continue;
    graph = std::make_shared<Graph>(std::move(again.graph)), kept = std::move(with);
  }
  if (!graph) return std::nullopt;
  return plan_graphs(state, std::move(graph), std::move(kept), work.annotations(), work.thresholds());
}

std::optional<GraphOfSize> expected_graphs(const Workload& work, const std::vector<ChosenPass>& chosen,
                                           const ExitChain& chain) {
  LoadProfile profile;
  for (const ExitTest& test : chain.tests) profile.routers[test.router] = {{1, 1}, 2, 1};
  return graphs_with_exits(work, run_passes(work.pass_input(profile), chosen, OnTheirOwn::no), chain);
}

}  // namespace stormcell
