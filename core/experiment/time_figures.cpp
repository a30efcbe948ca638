#include "core/experiment/time_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/clock.h"
#include "core/base/counted.h"
#include "core/exits/exit_chain.h"
#include "core/experiment/run_summary.h"
#include "core/summary/split_rule.h"
#include "core/summary/time_text.h"

namespace stormcell {
namespace {

/// A whole number of batches; infinity becomes all batches.
int64_t batches_in(double seconds, double batch, int64_t all) {
  const double count = seconds / std::max(batch, 1e-9);
  return count >= static_cast<double>(all) ? all : static_cast<int64_t>(count);
}

/// The expected time that is still to come.
ExpectedWork work_of(const ExperimentState& s, const OptimizeOptions& options, const FirstBatches& first, size_t passes,
                     bool exits) {
  ExpectedWork w;
  w.batch = first.batch, w.compile = first.compile;
  w.batches = s.data->batch_count(), w.passes = passes, w.alone = options.alone, w.ordered = s.store->budget() > 0;
  w.exits = exits, w.target = has_target(s.options), w.session = !options.session.empty();
  w.measure = options.measure_seconds, w.verify = s.options.verify_seconds;
  return w;
}

}  // namespace

int64_t TimeShare::further_batches(Stage stage, size_t plans) const {
  return plan.limited() ? batches_in(plan.allowed(stage), first.batch * static_cast<double>(plans), INT64_MAX)
                        : INT64_MAX;
}

void TimeShare::fit_batches() {
  if (!plan.limited()) return;
  const double thresholds = plan.allowed(Stage::thresholds), profile = plan.allowed(Stage::profile);
  const int64_t all = FittingBatches{split.profiled, split.measured}.all().size();
  const double seconds = thresholds > 0 ? std::min(thresholds, profile) : profile;
  const FittingBatches fitting =
      batches_that_fit(split.profiled, split.measured, batches_in(seconds, first.batch, all));
  split.profiled = fitting.profiled, split.measured = fitting.measured;
}

bool has_target(const ExperimentOptions& options) {
  return !options.target_quality.empty() || !options.target_latency.empty();
}

std::vector<TimeShare> time_shares(ExperimentState& s, const OptimizeOptions& options, size_t passes,
                                   const Progress& progress) {
  const TimePlan plan(options.time_limit, options.begun > 0 ? options.begun : seconds_now(), seconds_now);
  std::vector<TimeShare> shares;
  ExpectedSeconds all;
  double least = 0;
  const SplitRule rule = split_rule(s.options.profile_split);
  for (const std::unique_ptr<Workload>& work : workloads(s)) {
    TimeShare& share = shares.emplace_back(
        TimeShare{plan, {}, {}, split_batches(s.data->batch_count(), rule), true, options.time_limit});
    const bool exits = work->phase() == WorkPhase::forward && exit_chain(*work->graph(), s.model->answer).has_value();
    if (!has_target(s.options)) share.plan.skip(Stage::thresholds);
    if (!exits && !s.options.dense) share.plan.skip(Stage::exits);
    share.first = time_first_batches(*work, progress);
    share.plan.reserve_least(share.first.batch, share.first.compile + share.first.load,
                             static_cast<double>(std::max<size_t>(1, s.data->sizes().size())), s.store->budget() > 0);
    least += share.plan.least();
    const ExpectedSeconds own = expected_seconds(work_of(s, options, share.first, passes, exits));
    all.low += own.low, all.high += own.high, all.likely += own.likely;
  }
  all.low += plan.spent(), all.high += plan.spent(), all.likely += plan.spent();
  for (TimeShare& share : shares) share.expected = all, share.least = plan.spent() + least;
  return shares;
}

void tell_expected(const TimeShare& time, const Progress& progress) {
  if (!progress.sink) return;
  if (!time.plan.limited()) progress.sink->expect(time.expected.low, time.expected.likely, time.expected.high);
  if (time.limit > 0 && time.least > time.limit) progress.sink->expect_overrun(time.limit, time.least);
}

void set_time(const TimeShare& time, int64_t batches, RunSummaryFigures& figures) {
  if (time.limit > 0) figures.time_limit_seconds = time.limit;
  figures.expected_seconds = {{time.expected.low, time.expected.high}};
  figures.likely_seconds = time.expected.likely;
  const int64_t ran = FittingBatches{time.split.profiled, time.split.measured}.all().size();
  if (ran < batches) figures.left_out_for_time.push_back(fmt::format("{} of {} ran", ran, counted(batches, "batch")));
}

void end_time(const TimeShare& time, const StageTimes& stages, RunSummaryFigures& figures) {
  figures.elapsed_seconds = time.plan.spent();
  figures.limit_overrun = stages.overrun_text();
  if (!figures.limit_overrun.empty())
    figures.warnings.push_back("the time limit of " + duration_words(time.limit) + " was overrun (" +
                               duration_words(*figures.elapsed_seconds) + "): " + figures.limit_overrun);
  if (figures.left_out_for_time.empty()) return;
  std::string text = time.plan.limited()
                         ? "for the time limit of " + duration_words(time.limit)
                         : "because " + expected_words(time.expected.low, time.expected.high) + " were expected";
  const char* between = ": ";
  for (const std::string& sentence : figures.left_out_for_time) text += between + sentence, between = "; ";
  figures.warnings.push_back(text);
}

}  // namespace stormcell
