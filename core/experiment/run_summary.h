// The first parts of every verb's summary and configuration.
#pragma once
#include "core/base/run_kind.h"
#include "core/bench/workload.h"
#include "core/configuration/plan_config.h"
#include "core/experiment/run_options.h"
#include "core/quality/quality_meter.h"

namespace stormcell {

/// Starts a summary with model, data, phase, settings and warnings of the experiment.
std::shared_ptr<RunSummaryFigures> start_summary(const Workload& work, RunKind verb);
/// Runs `of` on each workload, one for each phase asked for. Returns the first one's figures; those of decoding are
/// part of them if it came second.
template <class F>
std::shared_ptr<const RunSummaryFigures> of_each_phase(const std::vector<std::unique_ptr<Workload>>& all,
                                                       const HalfDone& half_done, F&& of) {
  const std::shared_ptr<RunSummaryFigures> first = of(*all[0]);
  if (all.size() > 1) {
    if (half_done) half_done(*first);
    first->decode = of(*all[1]);
  }
  return first;
}
/// Meter for the answers of the workload's plans; it is idle in decoding.
QualityMeter quality_meter(const Workload& work);
/// Adds the misses of the plan's guards; call after every batch ran once. Warns if the guards miss more often than they
/// hold.
void tell_of_guards(const ReadyPlan& plan, RunSummaryFigures& figures);
/// Adds the memory that the run took; call at the end, so that weights loaded by a miss count. Calls
/// warn_of_lost_events().
void set_figures_at_end(const ReadyPlan& plan, RunSummaryFigures& figures);
/// Adds one warning if executions of the plan left more events than there is room for, because times of its steps lack
/// them.
void warn_of_lost_events(const ReadyPlan& plan, std::vector<std::string>& warnings);
/// Lists the nodes that each annotation applies to; if two annotations name one node, the later one has it.
void tell_of_annotations(const Workload& work, RunSummaryFigures& figures);
/// All that a configuration has beside the passes: model, device, phase, number format, buckets, budget and
/// annotations.
PlanConfig start_config(const Workload& work);

}  // namespace stormcell
