// run and profile: one pass over the data that is recorded and written out, then measuring, figures and verification.
#include <algorithm>
#include <iterator>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/run_kind.h"
#include "core/bench/experiment_figures.h"
#include "core/bench/outputs.h"
#include "core/bench/pass_report.h"
#include "core/bench/plan_checks.h"
#include "core/bench/profile_split.h"
#include "core/bench/recording.h"
#include "core/bench/workload.h"
#include "core/exits/exit_costs.h"
#include "core/exits/exit_curve.h"
#include "core/exits/exit_thresholds.h"
#include "core/experiment/answer_changes.h"
#include "core/experiment/experiment.h"
#include "core/experiment/item_costs.h"
#include "core/experiment/measure_again.h"
#include "core/experiment/routing_figures.h"
#include "core/experiment/run_summary.h"
#include "core/experiment/run_workload.h"
#include "core/measuring/dense_plan.h"
#include "core/measuring/measured_plans.h"
#include "core/measuring/recording_cost.h"
#include "core/measuring/steady_measuring.h"
#include "core/passes/pipeline.h"
#include "core/summary/latency.h"
#include "core/summary/stated_speedups.h"
#include "core/verification/verify.h"

namespace stormcell {
namespace {

/// Checks, before anything runs, that the options fit the phase.
void check_phases(WorkPhase phase, bool dense, const RunOptions& options) {
  if (!options.outputs.empty() && phase != WorkPhase::forward)
    bad_input("--outputs",
              "writes what a forward pass computes, and not what --phase " + std::string(to_text(phase)) + " decodes",
              "use generate for texts");
  if (options.config.empty()) return;
  if (dense)
    bad_input("--dense", "is measured beside the baseline, and --config runs another plan", "leave one of them out");
  const bool both = phase == WorkPhase::both;
  check_phase_of(parse_plan_config(options.config, options.config_name), both ? WorkPhase::forward : phase,
                 options.config_name);
  if (both && !options.decode_config.empty())
    check_phase_of(parse_plan_config(options.decode_config, options.decode_config_name), WorkPhase::decode,
                   options.decode_config_name);
}

/// The options for one phase.
RunOptions options_of(RunOptions options, const Workload& work) {
  if (work.phase() == WorkPhase::decode && !options.decode_config.empty())
    options.config = options.decode_config, options.config_name = options.decode_config_name;
  return options;
}

/// A graph after its passes, and the configuration that repeats them.
struct Replayed {
  std::shared_ptr<const Graph> graph;
  PassConfiguration configuration;
  PlanPromises promises = {};
  std::optional<GraphOfSize> with_exits = {};  ///< graphs with exits, which give the operations at the model's exits
};

/// Applies the passes of a configuration and says which of them could not be taken over.
Replayed apply_config(Workload& work, const RunOptions& options, PlanConfig& config, RunSummaryFigures& r) {
  const ExperimentState& s = work.state();
  const PlanConfig wanted = parse_plan_config(options.config, options.config_name);
  const auto warn = [&](std::vector<std::string> sentences) {
    r.warnings.insert(r.warnings.end(), std::make_move_iterator(sentences.begin()),
                      std::make_move_iterator(sentences.end()));
  };
  check_model_of(wanted, *s.model, options.config_name);
  check_phase_of(wanted, work.phase(), options.config_name);
  warn(differences(wanted, config));
  warn(work.annotate({wanted.annotations, options.config_name}));
  // Annotations of the command line come last, here and where the configuration is replayed.
  config.annotations.insert(config.annotations.begin(), wanted.annotations.begin(), wanted.annotations.end());
  tell_of_annotations(work, r);
  PipelineResult replayed = replay_config(work.pass_input({}), wanted, options.config_name);
  warn(not_taken_over(replayed));
  PassConfiguration taken;
  PlanPromises promises;
  for (const PassOutcome& outcome : replayed.outcomes) {
    if (outcome.cumulative.applied) {
      taken.emplace(outcome.pass->id, saved_parameters(outcome));
      promises.add(outcome.cumulative);
    }
    const PassReport& report = r.passes.emplace_back(report_of(outcome));
    config.passes.emplace_back(report.name, saved_parameters(outcome));
  }
  std::optional<GraphOfSize> with_exits;
  if (const auto chain = exit_chain(*work.graph(), s.model->answer))
    with_exits = graphs_with_exits(work, replayed, *chain);
  return {std::make_shared<Graph>(std::move(replayed.graph)), std::move(taken), std::move(promises),
          std::move(with_exits)};
}

class Run {
 public:
  Run(Workload& work, const RunOptions& options, const Progress& progress)
      : work_(work),
        s_(work.state()),
        options_(options),
        progress_(progress),
        quality_(quality_meter(work)),
        item_costs_(work),
        result_(start_summary(work, kind())) {
    if (options_.answered || options_.beside) answers_.emplace(s_, work_.new_tokens());
  }

  std::shared_ptr<RunSummaryFigures> run() {
    s_.budget.restart();
    make_plan();
    const RunAbout about{options_.session, kind(), options_.decisions, result_->settings};
    SessionRun session(s_, *plan_, about, progress_.cancel);
    record(session);
    const ProcessorTimes before = processor_times();
    measure(about);
    machine_.add_load(before, processor_times());
    measure_again();
    set_figures();
    if (s_.options.dense) set_dense();
    if (const auto spread = runs_.spread()) widen_others(*spread, *result_);
    withhold_speedups(*result_);
    verify();
    // Exits are replayed on the scores of the unchanged model.
    if (std::optional<ExitRecord> record =
            work_.intervention().empty() ? record_exits(work_, all_batches(*s_.data), progress_) : std::nullopt) {
      record->count_in(result_->verified->passed ? with_exits_ : std::nullopt, s_.model->answer);
      result_->exits = exit_curve(*record);
    }
    result_->session = options_.session;
    if (options_.decisions) {
      result_->decisions = session.decisions();
      result_->windows = session.windows();
    }
    tell_of_budget(s_, result_->weight_budget, result_->warnings);
    keep_answers();
    result_->session_run = session.finish(to_json(*result_));
    return result_;
  }

 private:
  RunKind kind() const { return options_.decisions ? RunKind::profile : RunKind::run; }
  bool is_baseline() const { return options_.config.empty(); }

  void make_plan() {
    Replayed replayed{work_.graph(), {}};
    PlanConfig config = start_config(work_);
    if (!is_baseline()) replayed = apply_config(work_, options_, config, *result_);
    result_->config = to_json(config);
    // Checks only the plan that runs: a configuration may fit where the baseline does not.
    work_.check_fits(replayed.graph, replayed.configuration, result_->warnings);
    plan_ =
        work_.make_plan(is_baseline() ? "baseline" : "optimized", replayed.graph, replayed.configuration, progress_);
    plan_->promises = replayed.promises;
    with_exits_ = std::move(replayed.with_exits);
    result_->load_seconds = s_.store->load_seconds();
  }

  /// The first pass over the data: recorded, and written out where asked for.
  void record(SessionRun& session) {
    OutputWriter outputs(options_.outputs, s_, *plan_);
    ExecuteOptions execute;
    execute.record = true;
    execute.events = session.open();
    execute.outputs = outputs.open() || quality_.open() || answers_;
    run_over_data(s_, *plan_, "running", execute, progress_, [&](const Batch& batch) {
      all_ms_ += plan_->result.milliseconds;
      session.add(batch);
      item_costs_.add(*plan_, batch);
      outputs.add(batch);
      quality_.add(is_baseline() ? JudgedAs::baseline : JudgedAs::optimized, batch, plan_->result.outputs);
      if (answers_) answers_->add(batch, *plan_);
    });
    outputs.finish();
    result_->quality = quality_.figures(result_->warnings);
    result_->routing = router_figures(session.profile());
    result_->item_costs = item_costs_.figures();
    if (options_.decisions) result_->labels = routed_labels(session.profile());
    // Here, where every batch ran once.
    tell_of_guards(*plan_, *result_);
  }

  void keep_answers() {
    if (!answers_) return;
    if (options_.answered) options_.answered(std::make_shared<RunAnswers>(answers_->answers()));
    if (!options_.beside) return;
    const std::string item = result_->item_costs ? result_->item_costs->item : "item";
    result_->changed =
        changed_answers(*options_.beside, answers_->answers(), work_.new_tokens() > 0 ? kDecodedItem : item);
    result_->changed->run = options_.beside_run;
  }

  /// Measures the plain plan, batch after batch, until the time is up; with `profile` beside the plan that records.
  void measure(const RunAbout& about) {
    if (options_.decisions) {
      RecordingCost cost = measure_recording(s_, *plan_, about, all_ms_, options_.measure_seconds, progress_);
      if (cost.overhead) {
        result_->record_overhead = cost.overhead->value - 1;
        result_->record_overhead_ci95 = {{cost.overhead->ci95[0] - 1, cost.overhead->ci95[1] - 1}};
        result_->record_work = cost.work;
      }
      if (!cost.not_stated.empty()) result_->warnings.push_back(cost.not_stated);
      latency_ = latency_of(cost.plain_ms), read_ = cost.plain_read;
      measured_ = {std::move(cost.batches), cost.rounds, cost.spread, {}};
      return;
    }
    MeasuredPlans plans(s_, {plan_.get()}, progress_);
    MirroredJob job = plans.job(all_batches(*s_.data), own_seconds(s_, options_.measure_seconds));
    if (options_.measure_seconds > 0) job.between = [this] { machine_.probe_between(); };
    // Under a budget, the batch before decides what an execution has to read.
    if (s_.store->budget() > 0) job.stretch = 1, job.lead = s_.budget.settling_batches();
    const double begin = seconds_now();
    const MirroredTimes times = measure_mirrored(job, progress_);
    measured_seconds_ = seconds_now() - begin;
    latency_ = times.baseline_latency(), read_ = times.baseline_reads();
    by_time_ = times.by_time();
    measured_ = measured(times);
  }

  /// Fresh processes measure the plain plan again.
  void measure_again() {
    if (options_.decisions) return;
    runs_ = MeasurementRuns({{}, {}, latency_});
    MeasuringTime time{options_.measure_seconds, options_.measuring_program, measured_seconds_, latency_.mean};
    time.between = [this] { machine_.probe_between(); };
    time.batches = s_.store->budget() > 0 ? all_batches(*s_.data) : by_time_;
    runs_.ask(s_, time, {false, result_->settings, result_->config, 0, {}}, progress_);
    runs_.write_to(*result_);
    latency_ = runs_.plan_latency();
  }

  /// The plan without routing. Its gain is withheld too if the machine is disturbed only now.
  void set_dense() {
    const ProcessorTimes before = processor_times();
    measure_dense(work_, *plan_, all_batches(*s_.data), options_.measure_seconds / 2, *result_, progress_);
    if (options_.measure_seconds == 0 || !result_->dense) return;
    machine_.add_load(before, processor_times());
    machine_.end_in(*result_);
  }

  void set_figures() {
    RunSummaryFigures& r = *result_;
    MeasuredPlan plan{*plan_, latency_, read_, is_baseline() ? r.baseline : r.optimized,
                      is_baseline() ? r.baseline_operators : r.optimized_operators};
    s_.budget.end_readings(s_.ceilings.peak_resident());
    if (options_.measure_seconds > 0) machine_.end();
    measured_.others = machine_.others();
    stormcell::set_figures(work_, measured_, {plan}, options_.measure_seconds > 0, r, progress_);
  }

  void verify() {
    RunSummaryFigures& r = *result_;
    r.verified = stormcell::verify(work_, *plan_, nullptr, verify_options(s_), progress_);
    set_figures_at_end(*plan_, r);
  }

  Workload& work_;
  ExperimentState& s_;
  const RunOptions options_;
  const Progress& progress_;
  QualityMeter quality_;
  ItemCosts item_costs_;
  std::optional<AnswerReader> answers_;
  std::shared_ptr<RunSummaryFigures> result_;
  std::unique_ptr<ReadyPlan> plan_;
  std::optional<GraphOfSize> with_exits_;
  double all_ms_ = 0;
  Latency latency_;
  double measured_seconds_ = 0;
  MeasurementRuns runs_;
  TimedReads read_;
  std::vector<int64_t> by_time_;  // batches, the fastest first
  Measured measured_;
  SteadyMeasuring machine_{machine_of(s_, progress_),
                           {}};  // a run states no speed-up of a plan, so nothing is repeated
};

}  // namespace

std::shared_ptr<RunSummaryFigures> run_workload(Workload& work, const RunOptions& options, const Progress& progress) {
  return Run(work, options, progress).run();
}

std::shared_ptr<const RunSummaryFigures> Experiment::run(const RunOptions& run, const Progress& progress) {
  state_->ceilings.begin_call();
  check_phases(work_phase(state_->options.phase), state_->options.dense, run);
  PlanConfig config;
  if (!run.config.empty()) config = parse_plan_config(run.config, run.config_name);
  if (!run.intervention.empty()) {
    if (work_phase(state_->options.phase) == WorkPhase::both)
      bad_input("--phase", "a change of the routing is one of a single phase", "use --phase forward or decode");
    config.intervention = run.intervention;
  }
  if (!run.exits.empty()) config.exits = run.exits;
  check_thresholds(*state_, config.exits, run.config_name);
  return of_each_phase(workloads(*state_, config.exits, config.intervention), run.half_done,
                       [&](Workload& work) { return run_workload(work, options_of(run, work), progress); });
}

}  // namespace stormcell
