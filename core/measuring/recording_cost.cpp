#include "core/measuring/recording_cost.h"

#include <algorithm>
#include <cmath>

#include "core/base/clock.h"
#include "core/bench/profile_split.h"
#include "core/measuring/measured_plans.h"
#include "core/summary/latency.h"

namespace stormcell {
namespace {

double milliseconds_since(double begin) { return (seconds_now() - begin) * 1e3; }

/// The plan with recording and without, a batch at a time.
class RecordedPlan {
 public:
  RecordedPlan(ExperimentState& s, ReadyPlan& plan, const RunAbout& about, const Progress& progress)
      : s_(s), plan_(plan), recording_(s, plan, about), progress_(progress) {}

  /// Milliseconds, including the work of the run's thread to record it.
  double run(const Batch& batch, bool recorded) {
    progress_.cancel.check();
    plan_.use(batch.picture);  // compiling it is no cost of recording
    ExecuteOptions execute;
    execute.record = execute.events = recorded;
    const double begin = seconds_now();
    s_.run_batch(plan_, batch, execute);
    if (recorded) recording_.add(batch);
    return milliseconds_since(begin);
  }
  /// Milliseconds until all is written.
  double finish(bool recorded) {
    const double begin = seconds_now();
    if (recorded) written_ = recording_.finish() && written_;
    return milliseconds_since(begin);
  }
  double milliseconds() const { return plan_.result.milliseconds; }
  bool written() const { return written_; }
  /// Milliseconds that recording a batch took.
  double work() const { return recording_.work(); }

 private:
  ExperimentState& s_;
  ReadyPlan& plan_;
  RecordingMeasure recording_;
  const Progress& progress_;
  bool written_ = true;
};

/// Ways through some of the batches, each an execution.
MirroredTimes measure_ways(ExperimentState& s, RecordedPlan& plan, double batch_ms, double seconds, RecordingCost& cost,
                           const Progress& progress) {
  constexpr int64_t kWaysAChain = 4;  // one that warms up, plain, recorded, plain
  const double way_ms = seconds * 1e3 / static_cast<double>(kWaysAChain * kLeastRounds);
  cost.batches = evenly_spread(s.data->batch_count(), way_ms / std::max(batch_ms, 1e-6));
  std::vector<Batch> batches;
  for (const int64_t b : cost.batches) batches.push_back(s.data->batch(b, progress.cancel));
  MirroredJob job{.plans = 1, .batches = {0}, .seconds = seconds};
  job.execute = [&](size_t recorded, int64_t) {
    double total = 0;
    for (const Batch& batch : batches) {
      total += plan.run(batch, recorded != 0);
      if (!recorded) cost.plain_ms.push_back(plan.milliseconds());
    }
    return total + plan.finish(recorded != 0);
  };
  return measure_mirrored(job, progress);
}

/// Measures under a budget: batches in the data's order, one execution each.
MirroredTimes measure_in_order(ExperimentState& s, RecordedPlan& plan, double batch_ms, double seconds,
                               RecordingCost& cost, const Progress& progress) {
  MirroredJob job{.plans = 1, .batches = all_batches(*s.data), .seconds = seconds};
  set_order(job, batch_ms, s.budget.settling_batches());
  job.filled = [&] { return s.budget.filled(); };
  job.execute = [&](size_t recorded, int64_t b) {
    const Batch batch = s.data->batch(b, progress.cancel);
    const BudgetMeter::Timed timed(s.budget, b);
    const double ms = plan.run(batch, recorded != 0);
    if (!recorded) cost.plain_ms.push_back(plan.milliseconds());
    return TimedExecution(ms, timed.end(plan.milliseconds()));
  };
  job.run_untimed = [&](size_t, int64_t b) { plan.run(s.data->batch(b, progress.cancel), false); };
  job.finish = [&](size_t recorded) { return plan.finish(recorded != 0); };
  const MirroredTimes times = measure_mirrored(job, progress);
  for (const Chain& c : times.chains) cost.batches.push_back(c.batch);
  return times;
}

}  // namespace

std::vector<int64_t> evenly_spread(int64_t count, double most) {
  const auto stride =
      static_cast<int64_t>(std::ceil(static_cast<double>(count) / std::clamp(most, 1.0, static_cast<double>(count))));
  std::vector<int64_t> list;
  for (int64_t i = stride / 2; i < count; i += stride) list.push_back(i);
  return list;
}

RecordingCost measure_recording(ExperimentState& s, ReadyPlan& plan, const RunAbout& about, double all_ms,
                                double seconds, const Progress& progress) {
  RecordingCost cost;
  const double batch_ms = all_ms / static_cast<double>(s.data->batch_count());
  const bool in_order = s.store->budget() > 0;
  RecordedPlan recorded(s, plan, about, progress);
  const MirroredTimes times =
      (in_order ? measure_in_order : measure_ways)(s, recorded, batch_ms, seconds, cost, progress);
  cost.rounds = times.rounds;
  cost.plain_read = times.baseline_reads();
  cost.spread = repeat_spread(times);
  if (!tells_speed(times)) cost.not_stated = why_not_stated("what recording costs", times);
  if (!recorded.written() || !tells_speed(times)) return cost;
  const Ratio speed = times.speedup(0);
  cost.overhead = Ratio{1 / speed.value, {1 / speed.ci95[1], 1 / speed.ci95[0]}};
  const double batches = in_order ? 1 : static_cast<double>(cost.batches.size());  // that an execution runs
  cost.work = recorded.work() * batches / std::max(times.baseline_latency().median, 1e-6);
  return cost;
}

}  // namespace stormcell
