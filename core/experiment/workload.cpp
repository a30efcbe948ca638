#include "core/experiment/workload.h"

#include "core/machine/memory.h"

namespace stormcell {

void Workload::annotate(const std::vector<std::string>& annotations, const std::string& where) {
  if (annotations.empty()) return;
  annotate_graphs(annotations, where);
  annotations_ = annotations;
  state_.check_annotations(graph(), where, new_tokens_);
}

void Workload::check_fits(std::shared_ptr<const Graph> left, const PassConfiguration& configuration,
                          std::vector<std::string>& warnings) const {
  state_.check_fits(plan_graphs(state_, std::move(left), configuration, annotations_), available_memory(), warnings, new_tokens_);
}

std::unique_ptr<ReadyPlan> ForwardPass::make_plan(const std::string& name, std::shared_ptr<const Graph> left,
                                                  const PassConfiguration& configuration, const Progress& progress) {
  return state_.make_plan(name, plan_graphs(state_, std::move(left), configuration, annotations_), 0, progress);
}

void ForwardPass::annotate_graphs(const std::vector<std::string>& annotations, const std::string& where) {
  graph_ = annotated(graph_, annotations, where);
}

Verification ForwardPass::verify(ReadyPlan& plan, ReadyPlan* baseline, const Progress& progress) {
  return state_.verify(plan, baseline, progress);
}

std::vector<std::string> ForwardPass::differences_from(ReadyPlan& baseline, const std::vector<std::unique_ptr<ReadyPlan>>& plans,
                                                       int64_t batch) {
  return state_.differences_from(baseline, plans, batch);
}

std::vector<std::unique_ptr<Workload>> workloads(Experiment::State& state) {
  const std::string& phase = state.options.phase;
  check_phase(phase);
  std::vector<std::unique_ptr<Workload>> list;
  if (phase != "decode") list.push_back(std::make_unique<ForwardPass>(state));
  if (phase != "forward") list.push_back(std::make_unique<Decoding>(state));
  return list;
}

}  // namespace stormcell
