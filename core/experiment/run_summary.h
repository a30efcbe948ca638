// How the summary and the configuration of every verb begin.
#pragma once
#include "core/base/run_kind.h"
#include "core/bench/workload.h"
#include "core/configuration/plan_config.h"
#include "core/experiment/run_options.h"
#include "core/quality/quality_meter.h"

namespace stormcell {

/// Model, data, phase, settings and warnings of what is open.
std::shared_ptr<RunSummaryFigures> start_summary(const Workload& work, RunKind verb);
/// `of` each of the workloads(), one for each phase that was asked for: the first one's figures, with those of decoding
/// in them where that came second.
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
/// Of what the workload's plans answer; of decoding it has nothing to do.
QualityMeter quality_meter(const Workload& work);
/// Where every batch ran once: how often the guards of the plan missed, with a warning where they miss more often than
/// they hold.
void tell_of_guards(const ReadyPlan& plan, RunSummaryFigures& figures);
/// When everything has run, so that what a miss had to load counts as loaded: the memory it took. And as
/// warn_of_lost_events() says.
void set_figures_at_end(const ReadyPlan& plan, RunSummaryFigures& figures);
/// Where executions of the plan left more events than there is room for: one warning, because what is told of its steps
/// lacks them.
void warn_of_lost_events(const ReadyPlan& plan, std::vector<std::string>& warnings);
/// What the workload's annotations are said of; of two that name the same the later one counts it.
void tell_of_annotations(const Workload& work, RunSummaryFigures& figures);
/// All that a configuration says of a run beside its passes: model, device, phase, number format, buckets, budget and
/// annotations.
PlanConfig start_config(const Workload& work);

}  // namespace stormcell
