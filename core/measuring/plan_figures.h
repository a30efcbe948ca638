// A plan's figures, from how it was measured and from what it does.
#pragma once
#include <vector>

#include "core/bench/workload.h"

namespace stormcell {

/// From its times over `batches`, which may name a batch more than once, and what the executions read that took them.
PlanFigures plan_figures(const Workload& work, const ReadyPlan& plan, const Latency& latency, const TimedReads& read,
                         const std::vector<int64_t>& batches, int64_t rounds);
/// Time by operator over the first batches, with step events on. At most `most` batches run, at least one.
std::vector<OperatorTime> operator_times(ExperimentState& state, ReadyPlan& plan, int64_t most,
                                         const Progress& progress);
/// How much of the physical limit of its own work a plan reaches: one that computes less has less to do at best.
void set_limit_share(PlanFigures& figures, ReadyPlan& plan, ExperimentState& state, const std::vector<int64_t>& batches,
                     const Progress& progress);

}  // namespace stormcell
