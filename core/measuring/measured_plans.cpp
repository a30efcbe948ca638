#include "core/measuring/measured_plans.h"

#include <cmath>
#include <set>
#include <utility>

#include "core/bench/experiment_figures.h"
#include "core/bench/profile_split.h"
#include "core/measuring/plan_figures.h"

namespace stormcell {

void run_over_data(ExperimentState& state, ReadyPlan& plan, const char* what, const ExecuteOptions& options,
                   const Progress& progress, const std::function<void(const Batch&)>& then) {
  run_over_batches(state, plan, what, options, progress, all_batches(*state.data), [&](const Batch& batch) {
    then(batch);
    return true;
  });
}

void run_over_batches(ExperimentState& state, ReadyPlan& plan, const char* what, const ExecuteOptions& options,
                      const Progress& progress, const std::vector<int64_t>& batches,
                      const std::function<bool(const Batch&)>& then) {
  for (size_t i = 0; i < batches.size(); ++i) {
    progress.report(what, static_cast<int64_t>(i), std::ssize(batches));
    const Batch batch = state.data->batch(batches[i], progress.cancel);
    state.run_batch(plan, batch, options);
    if (!then(batch)) return;
  }
}

MirroredJob MeasuredPlans::job(std::vector<int64_t> batches, double seconds) {
  MirroredJob job{.plans = plans_.size() - 1, .batches = std::move(batches), .seconds = seconds};
  job.execute = [this](size_t plan, int64_t b) { return execute(plan, b); };
  job.run_untimed = [this](size_t plan, int64_t b) { state_.run_batch(*plans_[plan], batch(b), {}); };
  job.filled = [this] { return state_.budget.filled(); };
  return job;
}

void MeasuredPlans::warm_up(int64_t number) {
  for (ReadyPlan* plan : plans_) state_.run_batch(*plan, batch(number), {});
}

const Batch& MeasuredPlans::batch(int64_t number) {
  progress_.cancel.check();
  const bool is_new = !kept_.holds(number);
  const Batch& batch = kept_.at(number);
  if (!is_new) return batch;
  for (ReadyPlan* plan : plans_) {
    const int64_t builds = plan->builds();
    plan->use(batch.picture);
    if (plan->builds() != builds) state_.run_batch(*plan, batch, {});
  }
  return batch;
}

TimedExecution MeasuredPlans::execute(size_t plan, int64_t number) {
  const Batch& of = batch(number);
  const BudgetMeter::Timed timed(state_.budget, number);
  const double ms = run_timed(state_, *plans_[plan], of);
  return {ms, timed.end(ms)};
}

bool tells_speed(const MirroredTimes& times) {
  constexpr double kMostUnlike = 0.1;
  return times.unlike_fills() <= kMostUnlike;
}
std::string why_not_stated(const std::string& what, const MirroredTimes& times) {
  return what + " is not stated: on the same batches the same plan had to read " +
         std::to_string(std::lround(100 * times.unlike_fills())) +
         " % less one time than another, because other batches had left other weights in the budget's slots; measure "
         "longer "
         "(--measure-seconds)";
}

Measured measured(const MirroredTimes& times) {
  Measured m;
  for (const Chain& c : times.chains) m.batches.push_back(c.batch);
  m.rounds = times.rounds, m.spread = repeat_spread(times);
  return m;
}

void set_figures(const Workload& work, const Measured& measured, const std::vector<MeasuredPlan>& plans, bool probed,
                 RunSummaryFigures& r, const Progress& progress) {
  ExperimentState& s = work.state();
  for (const MeasuredPlan& p : plans)
    p.figures = plan_figures(work, p.plan, p.latency, p.read, measured.batches, measured.rounds);
  r.peak_resident_bytes = s.ceilings.peak_resident();
  if (probed) {
    warn_of_noise(s, measured.spread, measured.others, r.warnings);
    r.other_load = measured.others.share();
  }
  for (const MeasuredPlan& p : plans) p.operators = operator_times(s, p.plan, measured.further, progress);
  const std::set<int64_t> ran(measured.batches.begin(), measured.batches.end());
  if (std::ssize(ran) < measured.further)
    for (const MeasuredPlan& p : plans) set_limit_share(*p.figures, p.plan, s, measured.batches, progress);
  r.device = device_figures(s);
}

}  // namespace stormcell
