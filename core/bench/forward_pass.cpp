// A forward pass as a workload: its graph and its plans.
#include <utility>

#include "core/bench/workload.h"
#include "core/graph/intervened.h"
#include "core/graph/router_thresholds.h"

namespace stormcell {

ForwardPass::ForwardPass(ExperimentState& state, RouterThresholds thresholds, Intervention intervention)
    : Workload(state, WorkPhase::forward, 0, std::move(thresholds), std::move(intervention)) {
  const std::shared_ptr<const Graph> plain = with_thresholds(state.graph, thresholds_);
  if (!intervention_.empty()) check_intervention(*plain, intervention_);
  graph_ = intervened(plain, intervention_);
  if (!intervention_.force.empty()) forced_ = std::make_shared<ForcedChoices>(intervention_, *graph_, *state.data);
  check_given();
}

std::shared_ptr<const Graph> ForwardPass::judged_graph(PictureSize size) const {
  const auto judged = [this](PictureSize of) {
    return for_oracle(with_thresholds(state_.graph_for(of), thresholds_), intervention_);
  };
  if (thresholds_.empty() && intervention_.k == 0 && intervention_.capacities.empty()) return judged(size);
  return judged_.at(size, judged);
}

std::shared_ptr<const Graph> ForwardPass::stored_graph(PictureSize size) const {
  return for_oracle(with_thresholds(state_.model->forward_for(size), thresholds_), intervention_);
}

std::unique_ptr<ReadyPlan> ForwardPass::make_plan(const std::string& name, std::shared_ptr<const Graph> optimised,
                                                  const PassConfiguration& configuration, const Progress& progress) {
  auto plan = state_.make_plan(
      name, plan_graphs(state_, std::move(optimised), configuration, annotations_, thresholds_, intervention_), 0,
      progress);
  plan->forced = forced_;
  return plan;
}

void ForwardPass::annotate_graphs(const SaidAnnotations& said) { graph_ = annotated(graph_, said); }

}  // namespace stormcell
