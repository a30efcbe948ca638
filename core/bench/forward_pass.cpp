// A forward pass as a workload: its graph and its plans.
#include <utility>

#include "core/bench/workload.h"
#include "core/graph/router_thresholds.h"

namespace stormcell {

ForwardPass::ForwardPass(ExperimentState& state, RouterThresholds thresholds)
    : Workload(state, WorkPhase::forward, 0, std::move(thresholds)), graph_(with_thresholds(state.graph, thresholds_)) {
  check_given();
}

std::shared_ptr<const Graph> ForwardPass::judged_graph(PictureSize size) const {
  if (thresholds_.empty()) return state_.graph_for(size);
  return judged_.at(size, [this](PictureSize of) { return with_thresholds(state_.graph_for(of), thresholds_); });
}

std::shared_ptr<const Graph> ForwardPass::stored_graph(PictureSize size) const {
  return with_thresholds(state_.model->forward_for(size), thresholds_);
}

std::unique_ptr<ReadyPlan> ForwardPass::make_plan(const std::string& name, std::shared_ptr<const Graph> optimised,
                                                  const PassConfiguration& configuration, const Progress& progress) {
  return state_.make_plan(name, plan_graphs(state_, std::move(optimised), configuration, annotations_, thresholds_), 0,
                          progress);
}

void ForwardPass::annotate_graphs(const SaidAnnotations& said) { graph_ = annotated(graph_, said); }

}  // namespace stormcell
