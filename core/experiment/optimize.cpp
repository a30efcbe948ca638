// The main job, stage by stage: profile, passes, measuring, leaving out what loses, verification, figures, the optimised run's record.
#include <algorithm>

#include "core/experiment/candidates.h"
#include "core/experiment/experiment.h"
#include "core/experiment/pass_report.h"
#include "core/experiment/profile_split.h"
#include "core/experiment/recording.h"
#include "core/experiment/routing_figures.h"
#include "core/experiment/run_summary.h"
#include "core/experiment/workload.h"
#include "core/machine/memory.h"

namespace stormcell {
namespace {

class Optimization {
 public:
  Optimization(Workload& work, const OptimizeOptions& options, const Progress& progress)
      : work_(work),
        s_(work.state()),
        options_(options),
        progress_(progress),
        chosen_(select_passes(options.passes)),
        split_(split_batches(s_.data->batch_count(), s_.options.profile_split)),
        result_(start_summary(work, "optimize")) {
    result_->split = figures_of(split_);
  }

  std::shared_ptr<RunSummaryFigures> run() {
    s_.budget.restart();
    profile();
    find_plan();
    verify();
    set_gains();
    gains_.tell(result_->passes, result_->warnings);
    set_figures();
    record();
    return result_;
  }

 private:
  /// Runs the baseline over all batches, all recorded; passes see those of the profile alone.
  void profile() {
    work_.check_fits(work_.graph(), {}, result_->warnings);
    baseline_ = work_.make_baseline(progress_);
    result_->load_seconds = s_.store->load_seconds();
    SessionRun session(options_.session, s_, *baseline_, "profile", true, "{}", result_->settings);
    for (int64_t b = 0; b < s_.data->batch_count(); ++b) {
      progress_.report("profiling", b, s_.data->batch_count());
      const Batch batch = s_.data->batch(b);
      ExecuteOptions execute;
      execute.record = execute.events = true;
      s_.run_batch(*baseline_, batch, execute);
      const bool is_profiled = std::binary_search(split_.profiled.begin(), split_.profiled.end(), b);
      session.add(batch, static_cast<uint8_t>((is_profiled ? kProfiled : kNoPart) | (is_profiled && !split_.same ? kNoPart : kMeasured)));
    }
    result_->routing = router_figures(session.profile());
    profile_ = load_profile(session.profile());
    session.finish("");
  }

  /// All passes, then without those that lose, until none does: what is left was measured as it is. A plan that computes something else
  /// than the baseline has no speed by which anything could be left out: it stays, and the verification fails.
  void find_plan() {
    plans_ = make_candidates(work_, profile_, chosen_, options_.alone ? OnTheirOwn::yes : OnTheirOwn::no, progress_);
    for (const PassOutcome& outcome : plans_.passed.outcomes) result_->passes.push_back(report_of(outcome));
    measure(options_.measure_seconds);
    for (size_t i = 0; i < plans_.alone_of.size(); ++i)
      if (plans_.alone_of[i] != kNoPlan) set_alone(result_->passes[i], plans_.alone_of[i]);
    while (!s_.options.keep_all && plans_.final_plan != kNoPlan) {
      const std::vector<LeftOut> lost = lost_passes();
      if (lost.empty()) break;
      for (const LeftOut& pass : lost) leave_out(pass);
      plans_ = {};  // before the next ones are made
      plans_ = make_candidates(work_, profile_, chosen_, OnTheirOwn::no, progress_);
      for (const PassOutcome& outcome : plans_.passed.outcomes) take_outcome(outcome);
      // Half as long: the plans alone are measured already. Where nothing is left, the baseline has been measured.
      if (plans_.final_plan != kNoPlan) measure(options_.measure_seconds / 2);
    }
  }

  std::vector<LeftOut> lost_passes() {
    const Contribution total = total_of(plans_, *baseline_, times_);
    if (!total.wrong.empty()) return {};
    std::vector<PassReport> counted = result_->passes;
    add_guard_counts(optimized(), counted);
    std::vector<LeftOut> lost = passes_that_always_miss(counted, times_.batches);
    return lost.empty() ? passes_to_leave_out(contributions_of(plans_, *baseline_, times_), total) : lost;
  }

  PassReport& report(std::string_view pass) {
    return *std::find_if(result_->passes.begin(), result_->passes.end(), [&](const PassReport& r) { return r.name == pass; });
  }

  void leave_out(const LeftOut& pass) {
    for (const Contribution& c : contributions_of(plans_, *baseline_, times_))
      if (c.pass == pass.pass) set_own(c);
    PassReport& r = report(pass.pass);
    r.applied = false, r.left_out = true;
    r.reason = pass.reason;
    std::erase_if(chosen_, [&](const ChosenPass& c) { return c.pass->id == pass.pass; });
  }

  /// What a pass did upon other passes than before.
  void take_outcome(const PassOutcome& outcome) {
    PassReport fresh = report_of(outcome);
    fresh.speedup_alone = report(fresh.name).speedup_alone;
    fresh.speedup_alone_ci95 = report(fresh.name).speedup_alone_ci95;
    report(fresh.name) = fresh;
  }

  void set_alone(PassReport& r, size_t plan) {
    gains_.set(r, times_.speedup(plan), plans_.wrong[plan], r.speedup_alone, r.speedup_alone_ci95);
  }
  void set_own(const Contribution& c) {
    PassReport& r = report(c.pass);
    gains_.set(r, c.speed, c.wrong, r.speedup_own, r.speedup_own_ci95);
  }

  /// All plans mirrored with the baseline over the batches that were not profiled.
  void measure(double seconds) {
    MirroredJob job{plans_.plans.size(), split_.measured, seconds, {}, {}};
    Batch batch;
    job.execute = [&](size_t p, int64_t b) {
      progress_.cancel.check();
      if (batch.index != b || batch.items.empty()) {
        batch = s_.data->batch(b);
        bring_to_size_of(batch);
      }
      ReadyPlan& plan = p == 0 ? *baseline_ : *plans_.plans[p - 1];
      s_.run_batch(plan, batch, {});
      return plan.result.milliseconds;
    };
    // A plan that computes something else has no speed-up.
    plans_.wrong.assign(plans_.plans.size(), {});
    for (const int64_t b : one_of_each_size(*s_.data, split_.measured)) {
      const std::vector<std::string> differences = work_.differences_from(*baseline_, plans_.plans, b);
      for (size_t p = 0; p < differences.size(); ++p)
        if (plans_.wrong[p].empty() && !differences[p].empty()) plans_.wrong[p] = differences[p] + ", on batch " + std::to_string(b);
    }
    for (ReadyPlan* plan : all_plans()) plan->guards.clear();
    // What a plan touches for the first time is not measured.
    for (size_t p = 0; p <= plans_.plans.size(); ++p) job.execute(p, split_.measured.front());
    const ProcessorTimes before = processor_times();
    times_ = measure_mirrored(job, progress_);
    others_.add(before, processor_times());
  }

  /// Before anything is timed: a plan that is compiled between two executions would find cold caches, the other not; nor is measured what
  /// it touches for the first time.
  void bring_to_size_of(const Batch& batch) {
    for (ReadyPlan* plan : all_plans()) {
      const int64_t builds = plan->builds();
      plan->use(batch.picture);
      if (plan->builds() != builds) s_.run_batch(*plan, batch, {});
    }
  }

  std::vector<ReadyPlan*> all_plans() {
    std::vector<ReadyPlan*> all{baseline_.get()};
    for (const auto& plan : plans_.plans) all.push_back(plan.get());
    return all;
  }
  ReadyPlan& optimized() { return plans_.final_plan == kNoPlan ? *baseline_ : *plans_.plans[plans_.final_plan]; }

  /// Nothing is exported that was not measured and verified: a plan that fails leaves no configuration.
  void verify() {
    Verification& v = result_->verified.emplace(work_.verify(optimized(), baseline_.get(), progress_));
    // What is measured was compared with the baseline on a batch that the verification may not have come to.
    if (plans_.final_plan != kNoPlan && !plans_.wrong[plans_.final_plan].empty()) {
      v.reasons.push_back("beside the baseline: " + plans_.wrong[plans_.final_plan]);
      v.passed = false;
    }
    if (!v.passed) return;
    PlanConfig config = start_config(work_);
    for (const PassOutcome& outcome : plans_.passed.outcomes)
      if (outcome.cumulative.applied) config.passes.emplace_back(outcome.pass->id, saved_parameters(outcome));
    result_->config = to_json(config);
  }

  void set_gains() {
    if (plans_.final_plan != kNoPlan) set_gains_of_plans();
    if (result_->verified->passed) return;
    // A run that fails is never reported as a speed-up.
    for (PassReport& pass : result_->passes) pass.clear_gains();
    result_->speedup = {}, result_->speedup_ci95 = {}, result_->speedup_basis = {};
  }
  void set_gains_of_plans() {
    for (const Contribution& c : contributions_of(plans_, *baseline_, times_)) {
      set_own(c);
      if (c.wrong.empty() && result_->verified->passed) report(c.pass).reason += why_kept(c, s_.options.keep_all);
    }
    for (size_t i = 0; i < plans_.cumulative_of.size(); ++i) {
      if (plans_.cumulative_of[i] == kNoPlan) continue;
      PassReport& r = report(plans_.passed.outcomes[i].pass->id);
      const size_t plan = plans_.cumulative_of[i];
      gains_.set(r, times_.speedup(plan), plans_.wrong[plan], r.speedup_cumulative, r.speedup_cumulative_ci95);
    }
    const Ratio all = times_.speedup(plans_.final_plan);
    result_->speedup = all.value;
    result_->speedup_ci95 = all.ci95;
    result_->speedup_basis = std::string(to_text(all.basis));
  }

  /// Figures of the plans, limits and time by operator.
  void set_figures() {
    RunSummaryFigures& r = *result_;
    const bool both = plans_.final_plan != kNoPlan;
    std::vector<int64_t> batches;
    for (const Chain& c : times_.chains) batches.push_back(c.batch);
    const Latency before = both ? times_.baseline_latency(plans_.final_plan) : times_.baseline_latency();
    r.baseline = s_.plan_figures(*baseline_, before, batches, times_.rounds);
    // Without a pass that applied there is no other plan, and nothing to compare.
    if (both) r.optimized = s_.plan_figures(optimized(), times_.plan_latency(plans_.final_plan), batches, times_.rounds);
    r.peak_resident_bytes = peak_resident_memory();
    s_.probe(1, progress_);
    if (options_.measure_seconds > 0) s_.warn_of_noise(repeat_spread(times_), others_, r.warnings);
    r.baseline_operators = s_.operator_times(*baseline_, progress_);
    if (both) r.optimized_operators = s_.operator_times(optimized(), progress_);
    // Each plan against the limit of its own work: one that computes less has less to do at best.
    const auto set_share = [&](PlanFigures& figures, ReadyPlan& plan) {
      if (figures.latency_ms.mean > 0) figures.limit_share = s_.mean_limit_milliseconds(plan, batches, progress_) / figures.latency_ms.mean;
    };
    set_share(*r.baseline, *baseline_);
    if (both) set_share(*r.optimized, optimized());
    r.device = s_.device_figures();
  }

  /// The optimised run with its summary is the session's newest.
  void record() {
    RunSummaryFigures& r = *result_;
    r.session = options_.session;
    SessionRun session(options_.session, s_, optimized(), "optimize", true, r.config.empty() ? "{}" : r.config, r.settings);
    // Guards are counted over all batches, each once, whether they are recorded or not.
    optimized().guards.clear();
    for (int64_t b = 0; (session.open() || !optimized().program->guards.empty()) && b < s_.data->batch_count(); ++b) {
      progress_.report("recording", b, s_.data->batch_count());
      const Batch batch = s_.data->batch(b);
      ExecuteOptions execute;
      execute.record = execute.events = session.open();
      s_.run_batch(optimized(), batch, execute);
      if (session.open()) session.add(batch);
    }
    add_guard_counts(optimized(), r.passes);
    Experiment::State::warn_of_misses(optimized(), r.warnings);
    r.peak_resident_bytes = std::max(r.peak_resident_bytes, peak_resident_memory());
    // At the end: what a miss had to load counts as loaded.
    r.unloaded_weight_bytes = optimized().unloaded_weight_bytes();
    r.weight_budget = s_.budget.figures();
    r.session_run = session.finish(to_json(r));
  }

  Workload& work_;
  Experiment::State& s_;
  const OptimizeOptions& options_;
  const Progress& progress_;
  std::vector<ChosenPass> chosen_;
  ProfileSplit split_;
  std::shared_ptr<RunSummaryFigures> result_;
  std::unique_ptr<ReadyPlan> baseline_;
  LoadProfile profile_;
  Gains gains_;
  Candidates plans_;
  OtherLoad others_;     // while measuring
  MirroredTimes times_;  // of the plans, or, where none is left, the last in which the baseline ran
};

}  // namespace

std::shared_ptr<const RunSummaryFigures> Experiment::optimize(const OptimizeOptions& optimize, const Progress& progress) {
  return of_each_phase(*state_, [&](Workload& work) { return Optimization(work, optimize, progress).run(); });
}

}  // namespace stormcell
