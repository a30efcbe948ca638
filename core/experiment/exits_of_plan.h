// The exits of the plan that an optimisation keeps.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "core/bench/workload.h"
#include "core/exits/exit_thresholds.h"
#include "core/passes/pipeline.h"
#include "core/summary/results.h"

namespace stormcell {

/// A verified plan, and the facts known before its exits are recorded.
struct ExitsOfPlan {
  const PipelineResult& passed;  ///< the passes that made the plan
  ReadyPlan& baseline;
  ReadyPlan& optimized;                      ///< the plan that is kept; the baseline if no pass applied
  const FoundTarget* found = nullptr;        ///< thresholds of a target; null: none were asked for
  const std::vector<int64_t>& batches;       ///< all that run
  const std::vector<int64_t>& held_out;      ///< batches that thresholds were not searched on
  std::optional<BesideOwn> beside;           ///< nothing: no gain of the thresholds is measured
  std::optional<SpeedupWithheld> few_pairs;  ///< the reason why the gain of the thresholds is not stated
};

/// Sets the curve of exits from one recorded run. Thresholds of a target are judged on batches that they were not
/// searched on. `figures` has the verification of the plan.
void set_exits(Workload& work, const ExitsOfPlan& plan, RunSummaryFigures& figures, const Progress& progress);

}  // namespace stormcell
