// Reports of passes, as results print them.
#pragma once
#include <vector>

#include "core/bench/ready_plan.h"
#include "core/passes/pipeline.h"
#include "core/summary/results.h"

namespace stormcell {

/// The report without measured figures.
PassReport report_of(const PassOutcome& outcome);
/// Adds, for each router that a pass takes for constant, how often the held-out batches disagree, as counts and in the
/// reason. `held_out`: what the baseline's routers decided there.
void add_held_out(const std::vector<ConstantClaim>& claims, const LoadProfile& held_out, PassReport& report);
/// Counts of the plan's guards, to the applied pass that makes them.
void add_guard_counts(const ReadyPlan& plan, std::vector<PassReport>& passes);

}  // namespace stormcell
