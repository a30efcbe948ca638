// run and profile: one pass over the data that is recorded and written out, then measuring, figures and verification.
#include <algorithm>

#include "core/base/error.h"
#include "core/experiment/experiment.h"
#include "core/experiment/mirrored.h"
#include "core/experiment/outputs.h"
#include "core/experiment/pass_report.h"
#include "core/experiment/recording.h"
#include "core/experiment/recording_cost.h"
#include "core/experiment/routing_figures.h"
#include "core/experiment/run_summary.h"
#include "core/experiment/workload.h"
#include "core/machine/memory.h"
#include "core/passes/pipeline.h"
#include "core/summary/latency.h"

namespace stormcell {
namespace {

/// A plan of one phase says nothing about the other.
void check_phase_of(const PlanConfig& config, std::string_view phase, const std::string& file) {
  if (config.phase != phase)
    bad_input(file, "was found for --phase " + config.phase + ", not for " + std::string(phase), "use --phase " + config.phase);
}

/// What one phase alone can do, before anything runs.
void check_phases(const std::string& phase, const RunOptions& options) {
  if (!options.outputs.empty() && phase != "forward")
    bad_input("--outputs", "writes what a forward pass computes, and not what --phase " + phase + " decodes", "use generate for texts");
  if (!options.config.empty()) check_phase_of(parse_plan_config(options.config, options.config_name), phase, options.config_name);
}

/// Replays the passes; what the file says wrongly of one is said with the file's name.
PipelineResult replay_named(const Workload& work, const PlanConfig& wanted, const std::string& file) {
  const std::shared_ptr<const Graph> graph = work.graph();
  try {
    return replay_passes(work.state().pass_input(*graph), {wanted.passes.begin(), wanted.passes.end()});
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::bad_input) throw;
    bad_input(file, e.what());
  }
}

/// A graph as passes left it, and what they need to do the same again.
struct Replayed {
  std::shared_ptr<const Graph> graph;
  PassConfiguration configuration;
};

/// Applies the passes of a configuration and says which of them could not be taken over.
Replayed replay_config(Workload& work, const RunOptions& options, PlanConfig& config, RunSummaryFigures& r) {
  const Experiment::State& s = work.state();
  const PlanConfig wanted = parse_plan_config(options.config, options.config_name);
  // Other weights go other ways: what was left out for them is what these may need.
  if (!wanted.fingerprint.empty() && !s.model->is_known_as(wanted.fingerprint))
    bad_input(options.config_name, "was found for another model, " + wanted.model + ", and not for " + s.model->name,
              "make one for this model: optimize --config-out FILE");
  check_phase_of(wanted, work.phase(), options.config_name);
  for (std::string& sentence : differences(wanted, config)) r.warnings.push_back(std::move(sentence));
  work.annotate(wanted.annotations, options.config_name);
  config.annotations.insert(config.annotations.end(), wanted.annotations.begin(), wanted.annotations.end());
  PipelineResult replayed = replay_named(work, wanted, options.config_name);
  PassConfiguration taken;
  for (const PassOutcome& outcome : replayed.outcomes) {
    if (outcome.cumulative.applied) taken.emplace(outcome.pass->id, saved_parameters(outcome));
    const PassReport& report = r.passes.emplace_back(report_of(outcome));
    if (!report.applied) r.warnings.push_back("pass " + report.name + " could not be taken over: " + report.reason);
    for (const std::string& key : outcome.not_taken_over)
      r.warnings.push_back("what the configuration says of " + key + " could not be taken over by pass " + report.name + ": " +
                           report.reason);
    config.passes.emplace_back(report.name, saved_parameters(outcome));
  }
  return {std::make_shared<Graph>(std::move(replayed.graph)), std::move(taken)};
}

class Run {
 public:
  Run(Workload& work, const RunOptions& options, const Progress& progress)
      : work_(work),
        s_(work.state()),
        options_(options),
        progress_(progress),
        result_(start_summary(work, options.decisions ? "profile" : "run")) {}

  std::shared_ptr<RunSummaryFigures> run() {
    s_.budget.restart();
    make_plan();
    SessionRun session(options_.session, s_, *plan_, result_->verb, options_.decisions);
    record(session);
    const ProcessorTimes before = processor_times();
    measure(session);
    others_.add(before, processor_times());
    set_figures();
    verify();
    result_->device = s_.device_figures();
    result_->session = options_.session;
    if (options_.decisions) {
      result_->decisions = session.decisions();
      result_->windows = session.windows();
    }
    result_->weight_budget = s_.budget.figures();
    result_->session_run = session.finish(to_json(*result_));
    return result_;
  }

 private:
  bool is_baseline() const { return options_.config.empty(); }

  void make_plan() {
    Replayed replayed{work_.graph(), {}};
    PlanConfig config = start_config(work_);
    if (!is_baseline()) replayed = replay_config(work_, options_, config, *result_);
    result_->config = to_json(config);
    // Of what runs alone: a configuration may fit where the baseline does not.
    work_.check_fits(replayed.graph, replayed.configuration, result_->warnings);
    plan_ = work_.make_plan(is_baseline() ? "baseline" : "optimized", replayed.graph, replayed.configuration, progress_);
    result_->load_seconds = s_.store->load_seconds();
  }

  /// The first pass over the data: recorded, and written out where asked for.
  void record(SessionRun& session) {
    OutputWriter outputs(options_.outputs, s_, *plan_);
    for (int64_t b = 0; b < s_.data->batch_count(); ++b) {
      progress_.report("running", b, s_.data->batch_count());
      const Batch batch = s_.data->batch(b);
      ExecuteOptions execute;
      execute.record = true;
      execute.events = session.open();
      execute.outputs = outputs.open();
      s_.run_batch(*plan_, batch, execute);
      all_ms_ += plan_->result.milliseconds;
      session.add(batch);
      outputs.add(batch);
    }
    outputs.finish();
    result_->routing = router_figures(session.profile());
    if (options_.decisions) result_->labels = routed_labels(session.profile());
    // Here, where every batch ran once.
    add_guard_counts(*plan_, result_->passes);
    Experiment::State::warn_of_misses(*plan_, result_->warnings);
  }

  /// Then the plain plan, batch after batch, until the time is up; of `profile` beside the plan that records.
  void measure(SessionRun& session) {
    if (options_.decisions) {
      RecordingCost cost = measure_recording(s_, *plan_, session, all_ms_, options_.measure_seconds, progress_);
      if (cost.overhead) {
        result_->record_overhead = cost.overhead->value - 1;
        result_->record_overhead_ci95 = {{cost.overhead->ci95[0] - 1, cost.overhead->ci95[1] - 1}};
        result_->record_work = cost.work;
      }
      latency_ = latency_of(cost.plain_ms);
      rounds_ = cost.rounds, spread_ = cost.spread;
      measured_ = std::move(cost.batches);
      return;
    }
    MirroredJob job{0, {}, options_.measure_seconds, {}, {}};
    for (int64_t b = 0; b < s_.data->batch_count(); ++b) job.batches.push_back(b);
    Batch batch;
    job.execute = [&](size_t, int64_t b) {
      progress_.cancel.check();
      if (batch.index != b || batch.items.empty()) batch = s_.data->batch(b);
      s_.run_batch(*plan_, batch, {});
      return plan_->result.milliseconds;
    };
    const MirroredTimes times = measure_mirrored(job, progress_);
    latency_ = times.baseline_latency();
    rounds_ = times.rounds, spread_ = repeat_spread(times);
    for (const Chain& c : times.chains) measured_.push_back(c.batch);
  }

  void set_figures() {
    RunSummaryFigures& r = *result_;
    PlanFigures figures = s_.plan_figures(*plan_, latency_, measured_, rounds_);
    r.peak_resident_bytes = peak_resident_memory();
    s_.probe(1, progress_);
    if (options_.measure_seconds > 0) s_.warn_of_noise(spread_, others_, r.warnings);
    const std::vector<OperatorTime> operators = s_.operator_times(*plan_, progress_);
    if (latency_.mean > 0) figures.limit_share = s_.mean_limit_milliseconds(*plan_, measured_, progress_) / latency_.mean;
    (is_baseline() ? r.baseline : r.optimized) = figures;
    (is_baseline() ? r.baseline_operators : r.optimized_operators) = operators;
  }

  void verify() {
    RunSummaryFigures& r = *result_;
    r.verified = work_.verify(*plan_, nullptr, progress_);
    r.peak_resident_bytes = std::max(r.peak_resident_bytes, peak_resident_memory());
    // At the end: what a miss had to load counts as loaded.
    r.unloaded_weight_bytes = plan_->unloaded_weight_bytes();
  }

  Workload& work_;
  Experiment::State& s_;
  const RunOptions& options_;
  const Progress& progress_;
  std::shared_ptr<RunSummaryFigures> result_;
  std::unique_ptr<ReadyPlan> plan_;
  double all_ms_ = 0, spread_ = 1;
  OtherLoad others_;  // while measuring
  Latency latency_;
  int64_t rounds_ = 0;
  std::vector<int64_t> measured_;
};

}  // namespace

std::shared_ptr<const RunSummaryFigures> Experiment::run(const RunOptions& run, const Progress& progress) {
  check_phases(state_->options.phase, run);
  return of_each_phase(*state_, [&](Workload& work) { return Run(work, run, progress).run(); });
}

}  // namespace stormcell
