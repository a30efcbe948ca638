// What the pipeline did, as results report it.
#pragma once
#include "core/experiment/ready_plan.h"
#include "core/passes/pipeline.h"
#include "core/summary/results.h"

namespace stormcell {

/// Without measured figures.
PassReport report_of(const PassOutcome& outcome);
/// Counts of the plan's guards, to the applied pass that makes them.
void add_guard_counts(const ReadyPlan& plan, std::vector<PassReport>& passes);

}  // namespace stormcell
