// What the pipeline did, as results report it.
#pragma once
#include <vector>

#include "core/bench/ready_plan.h"
#include "core/passes/pipeline.h"
#include "core/summary/results.h"

namespace stormcell {

/// Without measured figures.
PassReport report_of(const PassOutcome& outcome);
/// What the held-out batches say of the routers that a pass takes for constant: counts, and a sentence in its reason.
/// `held_out`: what the baseline's routers got there.
void add_held_out(const std::vector<ConstantClaim>& claims, const LoadProfile& held_out, PassReport& report);
/// Counts of the plan's guards, to the applied pass that makes them.
void add_guard_counts(const ReadyPlan& plan, std::vector<PassReport>& passes);

}  // namespace stormcell
