#include <algorithm>
#include <optional>

#include "core/bench/workload.h"
#include "core/exits/exit_thresholds.h"
#include "core/experiment/experiment.h"
#include "core/experiment/optimize_phase.h"
#include "core/experiment/run_summary.h"
#include "core/experiment/time_figures.h"

namespace stormcell {

std::shared_ptr<const RunSummaryFigures> Experiment::optimize(const OptimizeOptions& optimize,
                                                              const Progress& progress) {
  state_->begin_call();
  const std::vector<ChosenPass> chosen = select_passes(optimize.passes);
  check_target(*state_);
  std::vector<TimeShare> shares = time_shares(*state_, optimize, chosen.size(), progress);
  TimeShare& first = shares.front();
  if (has_target(state_->options)) first.fit_batches();
  const double executions = first.plan.allowed(Stage::thresholds) / std::max(first.first.batch, 1e-9);
  const std::optional<FoundTarget> found = find_thresholds(*state_, chosen, first.split, executions, progress);
  size_t phase = 0;
  const auto all = workloads(*state_, found ? found->in_use : RouterThresholds());
  return of_each_phase(all, optimize.half_done, [&](Workload& work) {
    TimeShare own = shares[phase];
    own.is_told = phase == 0;
    own.plan = own.plan.part(shares.size() - phase++);
    if (!found) own.fit_batches();
    return optimize_phase(work, found ? &*found : nullptr, optimize, own, progress);
  });
}

}  // namespace stormcell
