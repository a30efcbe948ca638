// A forward pass as a workload: its graph and its plans.
#include <utility>

#include "core/bench/workload.h"

namespace stormcell {

ForwardPass::ForwardPass(ExperimentState& state) : Workload(state, WorkPhase::forward, 0), graph_(state.graph) { check_given(); }

std::unique_ptr<ReadyPlan> ForwardPass::make_plan(const std::string& name, std::shared_ptr<const Graph> left,
                                                  const PassConfiguration& configuration, const Progress& progress) {
  return state_.make_plan(name, plan_graphs(state_, std::move(left), configuration, annotations_), 0, progress);
}

void ForwardPass::annotate_graphs(const SaidAnnotations& said) { graph_ = annotated(graph_, said); }

}  // namespace stormcell
