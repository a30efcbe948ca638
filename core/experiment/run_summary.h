// How the summary and the configuration of every verb begin.
#pragma once
#include "core/experiment/workload.h"
#include "core/summary/plan_config.h"

namespace stormcell {

/// Model, data, phase, settings and warnings of what is open.
std::shared_ptr<RunSummaryFigures> start_summary(const Workload& work, const std::string& verb);
/// `of` each phase that was asked for: the first one's figures, with those of decoding in them where that came second.
template <class F>
std::shared_ptr<const RunSummaryFigures> of_each_phase(Experiment::State& state, F&& of) {
  const std::vector<std::unique_ptr<Workload>> all = workloads(state);
  const std::shared_ptr<RunSummaryFigures> first = of(*all[0]);
  if (all.size() > 1) first->decode = of(*all[1]);
  return first;
}
/// Model, device, phase and number format; no pass yet.
PlanConfig start_config(const Workload& work);

}  // namespace stormcell
