// A plan's figures, from its measured times and from its work.
#pragma once
#include <vector>

#include "core/bench/workload.h"

namespace stormcell {

/// Figures from its times over `batches`, which may contain a batch more than once, and from the reads of these
/// executions.
PlanFigures plan_figures(const Workload& work, const ReadyPlan& plan, const Latency& latency, const TimedReads& read,
                         const std::vector<int64_t>& batches, int64_t rounds);
/// Time by operator over the first batches, with step events on. At most `most` batches run, at least one.
std::vector<OperatorTime> operator_times(ExperimentState& state, ReadyPlan& plan, int64_t most,
                                         const Progress& progress);
/// Sets the share of its own physical limit that a plan reaches: the limit counts only work that it does.
void set_limit_share(PlanFigures& figures, ReadyPlan& plan, ExperimentState& state, const std::vector<int64_t>& batches,
                     const Progress& progress);

}  // namespace stormcell
