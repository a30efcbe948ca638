// The main job: profile, passes, measuring, leaving out what loses, verification, figures, a recording.
#include <algorithm>
#include <exception>
#include <functional>
#include <optional>

#include "core/base/counted.h"
#include "core/base/run_kind.h"
#include "core/bench/experiment_figures.h"
#include "core/bench/pass_report.h"
#include "core/bench/profile_split.h"
#include "core/bench/recording.h"
#include "core/bench/workload.h"
#include "core/exits/exit_chain.h"
#include "core/exits/exit_thresholds.h"
#include "core/experiment/exits_of_plan.h"
#include "core/experiment/experiment.h"
#include "core/experiment/held_out_rounds.h"
#include "core/experiment/item_costs.h"
#include "core/experiment/measure_again.h"
#include "core/experiment/optimize_phase.h"
#include "core/experiment/proved_plans.h"
#include "core/experiment/routing_figures.h"
#include "core/experiment/run_summary.h"
#include "core/experiment/time_figures.h"
#include "core/machine/other_load.h"
#include "core/measuring/candidates.h"
#include "core/measuring/dense_plan.h"
#include "core/measuring/first_batches.h"
#include "core/measuring/measured_plans.h"
#include "core/measuring/stage_times.h"
#include "core/measuring/stated_gains.h"
#include "core/measuring/steady_measuring.h"
#include "core/measuring/time_plan.h"
#include "core/summary/stated_speedups.h"
#include "core/verification/verify.h"

namespace stormcell {
namespace {

class Optimization {
 public:
  Optimization(Workload& work, const FoundTarget* found, const OptimizeOptions& options, const TimeShare& time,
               const Progress& progress)
      : work_(work),
        found_(found),
        s_(work.state()),
        options_(options),
        progress_(progress),
        time_(time),
        chosen_(select_passes(options.passes)),
        split_(time.split),
        quality_(quality_meter(work)),
        result_(start_summary(work, RunKind::optimize)),
        gains_(split_.held_out, *result_) {
    result_->split = figures_of(split_);
    set_time(time_, s_.data->batch_count(), *result_);
  }

  std::shared_ptr<RunSummaryFigures> run() {
    s_.budget.restart();
    stages_.run(Stage::profile, [this] { profile(); });
    try {
      measure_and_verify();
    } catch (...) {
      leave_mark();
      throw;
    }
    stages_.run(Stage::record, [this] { record(); });
    return result_;
  }

 private:
  void measure_and_verify() {
    stages_.run(Stage::measure, [this] { find_plan(); });
    s_.budget.end_readings(s_.ceilings.peak_resident());
    stages_.run(Stage::verify, [this] { verify(); });
    stages_.run(Stage::again, [this] { measure_again(); });
    gains_.set(plan_times(), s_.options.keep_all);
    stages_.run(Stage::figures, [this] { set_figures(); });
    stages_.run(Stage::exits, [this] { set_further_gains(); });
    if (const auto spread = runs_.speedup()) widen_others(*spread, *result_);
    withhold_speedups(*result_);
    gains_.set_total(runs_.speedup());
  }

  /// Gains that are measured apart from the plans: a plan that takes several times as long would leave them few rounds.
  void set_further_gains() {
    const ProcessorTimes before = processor_times();
    measure_dense();
    set_exits();
    if (options_.measure_seconds == 0 || (!result_->dense && !result_->exit_target)) return;
    steady_.add_load(before, processor_times());
    steady_.end_in(*result_);
  }

  /// Repeats `measure` while the machine is not steady. Only the last repetition counts as time that was measured.
  void measure_steadily(const std::function<void()>& measure) {
    const double before = rounds_.seconds();
    steady_.run([&] {
      rounds_.forget_after(before);
      measure();
    });
  }

  /// Fresh processes measure the stated figure: the kept plan beside the baseline.
  void measure_again() {
    bool repeats = false;
    measure_steadily([&] {
      if (repeats && !together_) measure(own_seconds(s_, options_.measure_seconds));
      if (repeats && together_) measure_together();
      repeats = true;
      ask_fresh_processes();
    });
    if (options_.measure_seconds > 0) steady_.end();
    if (const std::string repeated = steady_.repetitions_text(); !repeated.empty())
      result_->warnings.push_back(repeated);
  }
  /// Empty: the plan has a speed-up that fresh processes can measure.
  std::string why_no_fresh_process(size_t plan) const {
    if (plan == kNoPlan) return "no pass applied, so there is nothing to compare";
    if (!result_->verified->passed) return "the plan was not verified";
    if (const auto few = too_few_pairs()) return to_text(*few);
    if (!states_speed()) return "the plans had different weights to read";
    return candidates_.no_speed(plan);
  }
  void ask_fresh_processes() {
    runs_ = {};
    const size_t plan = candidates_.final_plan;
    if (std::string why = why_no_fresh_process(plan); !why.empty()) {
      runs_.leave_out(std::move(why));
      return runs_.write_to(*result_);
    }
    const Ratio own = stated().speedup(stated_plan());
    const Latency baseline = stated().baseline_latency(stated_plan());
    runs_ = MeasurementRuns({Measurement{own.value, own.ci95}, baseline, stated().plan_latency(stated_plan())});
    const MeasuringTime time{options_.measure_seconds,
                             options_.measuring_program,
                             rounds_.seconds(),
                             baseline.mean,
                             time_.plan.allowed(Stage::again),
                             [this] { steady_.probe_between(); },
                             s_.store->budget() > 0 ? split_.measured : stated().by_gain(stated_plan())};
    runs_.ask(s_, time, {true, result_->settings, result_->config, 0, {}}, progress_);
    runs_.write_to(*result_);
  }

  void measure_dense() {
    if (!s_.options.dense) return;
    const double least = static_cast<double>(kLeastRounds) * executions_of_round(1, false) * time_.first.batch;
    const double allowed = time_.plan.allowed(Stage::exits);
    if (least > allowed) return leave_out_for_time("--dense was not measured");
    stormcell::measure_dense(work_, *baseline_, split_.measured, std::min(options_.measure_seconds / 4, allowed),
                             *result_, progress_);
  }

  void leave_out_for_time(const std::string& sentence) { result_->left_out_for_time.push_back(sentence); }

  /// Adds an interrupted run to the session when the call stops or fails between its two recordings. Without it the
  /// session would hold a finished profile and no sign of the failure.
  void leave_mark() {
    if (options_.session.empty()) return;
    try {
      const SessionRun ended(s_, *baseline_, {options_.session, RunKind::optimize, true, result_->settings},
                             progress_.cancel);
    } catch (const std::exception&) {  // what ended the call is said in any case
    }
  }

  void set_exits() {
    if (!found_ && time_.plan.remaining() <= 0) {
      if (exit_chain(*work_.graph(), s_.model->answer)) leave_out_for_time("the curve of exits was not recorded");
      return;
    }
    // The headline is measured as long as the plans were.
    ExitsOfPlan exits{candidates_.passed, *baseline_, optimized(), found_, batches_, split_.measured, {}, {}};
    if (states_speed()) exits.few_pairs = too_few_pairs();
    if (states_speed() && !exits.few_pairs)
      exits.beside = {options_.measure_seconds / 2, time_.plan.allowed(Stage::exits)};
    stormcell::set_exits(work_, exits, *result_, progress_);
  }

  /// Runs the baseline over all batches, all recorded; passes see those of the profile alone.
  void profile() {
    work_.check_fits(work_.graph(), {}, result_->warnings);
    baseline_ = work_.make_baseline(progress_);
    result_->load_seconds = s_.store->load_seconds();
    SessionRun session(s_, *baseline_, {options_.session, RunKind::profile, true, result_->settings}, progress_.cancel);
    // The expected time is printed here, after all refusals: a refusal is one line.
    if (time_.is_told) tell_expected(time_, progress_);
    ExecuteOptions execute;
    execute.record = execute.events = true;
    execute.outputs = quality_.open();
    ItemCosts item_costs(work_);
    run_over_batches(s_, *baseline_, "profiling", execute, progress_, batches_, [&](const Batch& batch) {
      batch_ms_ += baseline_->result.milliseconds / static_cast<double>(batches_.size());
      session.add(batch, split_.part_of(batch.index));
      item_costs.add(*baseline_, batch);
      quality_.add(JudgedAs::baseline, batch, baseline_->result.outputs);
      return true;
    });
    result_->routing = router_figures(session.profile());
    result_->item_costs = item_costs.figures();
    profile_ = load_profile(session.profile());
    held_out_ = held_out_loads(session.profile());
    session.finish("");
  }

  /// Measures all passes, then again without those that lose, until none loses: the plan that remains was measured as
  /// it is. A plan whose results differ from the baseline's has no speed, so no pass of it is left out; the
  /// verification then fails.
  void find_plan() {
    make_plans(options_.alone ? OnTheirOwn::yes : OnTheirOwn::no);
    const double seconds = own_seconds(s_, options_.measure_seconds);
    measure_steadily([&] { measure(seconds); });
    for (size_t i = 0; i < candidates_.alone_of.size(); ++i)
      if (candidates_.alone_of[i] != kNoPlan)
        gains_.set_alone(result_->passes[i], plan_times(), candidates_.alone_of[i]);
    while (!s_.options.keep_all && candidates_.final_plan != kNoPlan) {
      const std::vector<LeftOut> lost = lost_passes();
      if (lost.empty()) break;
      for (const LeftOut& pass : lost) leave_out(pass);
      candidates_ = {};  // before the next ones are made
      make_plans(OnTheirOwn::no);
      // Half the time suffices, because the single plans are measured already.
      if (candidates_.final_plan != kNoPlan) measure_steadily([&] { measure(seconds / 2); });
    }
    measure_what_is_stated();
    tell_trying();
  }

  void make_plans(OnTheirOwn alone) {
    stages_.run(Stage::passes, [&] {
      candidates_ = candidates_of(work_, proved_passes(alone), alone, progress_, ways());
      for (const PassOutcome& outcome : candidates_.passed.outcomes) take_outcome(outcome);
    });
  }

  /// Runs the passes, again without each one whose plan a proof finds to be unequal.
  PipelineResult proved_passes(OnTheirOwn alone) {
    while (true) {
      PipelineResult passed = run_passes(work_.pass_input(profile_), chosen_, alone);
      if (result_->passes.empty())
        for (const PassOutcome& outcome : passed.outcomes) result_->passes.push_back(reported(outcome));
      const std::optional<std::string> wrong = proofs_.prove(passed);
      if (!wrong) return passed;
      const std::string why = proofs_.proof()->first_difference;
      leave_out({*wrong, "left out: the plan would not be equal to the model, because " + why});
      gains_.report(*wrong).differs = why;
      result_->warnings.push_back("pass " + *wrong +
                                  " is left out, because its plan is not equal to the model: " + why);
    }
  }

  /// Measures the plan that is kept by itself if the measurement of all plans does not suffice for its speed-up: a
  /// round of two plans takes a fraction of the time of a round of all.
  void measure_what_is_stated() {
    if (candidates_.final_plan == kNoPlan) return;
    if (candidates_.trying == Trying::briefly) return measure_together();
    if (options_.measure_seconds == 0 || !too_few_pairs() || time_.plan.remaining() <= 0) return;
    measure_together();
    if (too_few_pairs()) together_.reset();
  }

  /// Measures all plans, fewer plans or fewer rounds, depending on the time that is left.
  ChooseTrying ways() {
    return [this](size_t upon, size_t alone) {
      TryChoice choice{upon,
                       alone,
                       time_.first.batch,
                       s_.store->budget() > 0,
                       time_.is_long(),
                       time_.plan.allowed(Stage::measure),
                       kLeastRounds,
                       time_.first.compile + time_.first.load + 2 * time_.first.batch};
      // Nothing was measured, so there is no time to save.
      if (options_.measure_seconds == 0) choice.is_long = false;
      return way_of_trying(choice);
    };
  }
  void tell_trying() {
    if (candidates_.trying == Trying::briefly && result_->passes_tried_on)
      leave_out_for_time("passes were tried on " + counted(*result_->passes_tried_on, "batch") +
                         ", each upon those before it");
    if (candidates_.only_together)
      leave_out_for_time("passes were measured only all together, so none was left out for a loss");
    if (rounds_.is_cut()) leave_out_for_time("plans were measured for less time than --measure-seconds asks");
  }

  /// Measures the plan that is kept beside the baseline alone. The stated figures come from here.
  void measure_together() {
    MeasuredPlans plans(s_, {baseline_.get(), &optimized()}, progress_);
    together_ = rounds_.run(plans, batch_ms_,
                            {.seconds = own_seconds(s_, options_.measure_seconds) / 2,
                             .chains = kLeastRounds,
                             .most_seconds = time_.plan.allowed(Stage::measure),
                             .most_times = 4});
    const size_t last = candidates_.final_plan;
    candidates_.unlike[last] = unlike_turns(optimized().decoded, baseline_->decoded, work_.new_tokens());
  }
  /// The stated figures of the plan that is kept, and its number among them.
  const MirroredTimes& stated() const { return plan_times().stated(); }
  size_t stated_plan() const { return plan_times().stated_plan(); }
  PlanTimes plan_times() const { return {candidates_, *baseline_, times_, together_ ? &*together_ : nullptr}; }

  std::vector<LeftOut> lost_passes() {
    const Contribution total = total_of(candidates_, *baseline_, times_);
    if (!candidates_.wrong.at(candidates_.final_plan).empty() || !tells_speed(times_)) return {};
    std::vector<PassReport> counted = result_->passes;
    add_guard_counts(optimized(), counted);
    std::vector<LeftOut> lost = passes_that_always_miss(counted, times_.batches, split_.held_out);
    if (!lost.empty() || candidates_.only_together) return lost;
    return passes_to_leave_out(contributions_of(candidates_, *baseline_, times_), total);
  }

  PassReport reported(const PassOutcome& outcome) const {
    PassReport made = report_of(outcome);
    add_held_out(outcome.cumulative.claims, held_out_, made);
    return made;
  }

  void leave_out(const LeftOut& pass) {
    for (const Contribution& c : contributions_of(candidates_, *baseline_, times_))
      if (c.pass == pass.pass) gains_.set_own(c);
    PassReport& r = gains_.report(pass.pass);
    r.applied = false, r.left_out = true;
    r.reason = pass.reason, r.reason_without_speeds = pass.reason_without_speeds;
    std::erase_if(chosen_, [&](const ChosenPass& c) { return c.pass->id == pass.pass; });
  }

  /// Replaces a pass's report after it was applied on top of other passes than before.
  void take_outcome(const PassOutcome& outcome) {
    PassReport fresh = reported(outcome);
    fresh.speedup_alone = gains_.report(fresh.name).speedup_alone;
    fresh.speedup_alone_ci95 = gains_.report(fresh.name).speedup_alone_ci95;
    fresh.withheld = gains_.report(fresh.name).withheld;
    gains_.report(fresh.name) = fresh;
  }

  /// All plans mirrored with the baseline over the batches that were not profiled.
  void measure(double seconds) {
    MeasuredPlans plans(s_, all_plans(), progress_);
    if (!result_->verified)  // a repetition measures plans that were verified
      compare_with_baseline(work_, *baseline_, one_of_each_size(*s_.data, split_.measured), candidates_,
                            progress_.cancel);
    for (ReadyPlan* plan : all_plans()) plan->guards.clear();
    const bool briefly = candidates_.trying == Trying::briefly;
    constexpr double kOfTrial = 0.5;  // share of the time; the rest is for the stated figures
    const double most = time_.plan.allowed(Stage::measure) * (briefly ? kOfTrial : 1);
    times_ = rounds_.run(plans, batch_ms_,
                         {.seconds = seconds * (briefly ? kOfTrial : 1),
                          .chains = briefly ? kBriefRounds : kLeastRounds,
                          .most_seconds = most});
    if (!candidates_.only_together && candidates_.final_plan != kNoPlan) result_->passes_tried_on = times_.batches;
    for (size_t p = 0; p < candidates_.plans.size(); ++p)
      candidates_.unlike[p] = unlike_turns(candidates_.plans[p]->decoded, baseline_->decoded, work_.new_tokens());
  }

  std::vector<ReadyPlan*> all_plans() {
    std::vector<ReadyPlan*> all{baseline_.get()};
    for (const auto& plan : candidates_.plans) all.push_back(plan.get());
    return all;
  }
  ReadyPlan& optimized() {
    return candidates_.final_plan == kNoPlan ? *baseline_ : *candidates_.plans[candidates_.final_plan];
  }

  /// Only a measured and verified plan is exported: one that fails leaves no configuration.
  void verify() {
    VerifyOptions how = verify_options(s_);
    how.all_seconds = std::min(how.all_seconds, time_.plan.allowed(Stage::verify));
    how.oracle_seconds = std::min(how.oracle_seconds, how.all_seconds / 1.5);
    Verification& v = result_->verified.emplace(stormcell::verify(work_, optimized(), baseline_.get(), how, progress_));
    if (how.all_seconds < verify_options(s_).all_seconds && v.batches + v.baseline_batches < s_.data->batch_count())
      leave_out_for_time("the verification compared " + counted(v.batches + v.baseline_batches, "batch") + " of " +
                         std::to_string(s_.data->batch_count()));
    v.exact = proofs_.proof();
    if (v.exact && v.exact->equal == false) {
      v.reasons.push_back("without rounding: " + v.exact->first_difference);
      v.passed = false;
    }
    // The measured plan was also compared with the baseline, on batches that the verification may not have reached.
    if (candidates_.final_plan != kNoPlan && !candidates_.wrong[candidates_.final_plan].empty()) {
      v.reasons.push_back("beside the baseline: " + candidates_.wrong[candidates_.final_plan]);
      v.passed = false;
    }
    if (!v.passed) return;
    PlanConfig config = start_config(work_);
    for (const PassOutcome& outcome : candidates_.passed.outcomes)
      if (outcome.cumulative.applied) config.passes.emplace_back(outcome.pass->id, saved_parameters(outcome));
    result_->config = to_json(config);
  }

  /// A run that fails is never reported as a speed-up, nor what depends on who read the weights.
  bool states_speed() const { return result_->verified->passed && tells_speed(stated()); }
  /// The time ended before there were enough pairs; nothing more is measured.
  std::optional<SpeedupWithheld> too_few_pairs() const {
    if (candidates_.final_plan == kNoPlan) return {};
    return too_few(stated().speedup(stated_plan()), split_.held_out);
  }

  void set_figures() {
    RunSummaryFigures& r = *result_;
    const bool both = candidates_.final_plan != kNoPlan;
    const size_t last = stated_plan();
    const MirroredTimes& times = stated();
    // The baseline's latency is that of its executions around the plan's, because the speed-up is computed from them.
    Latency before = both ? times.baseline_latency(last) : times.baseline_latency(), after;
    if (both) after = times.plan_latency(last);
    if (runs_.speedup()) before = runs_.baseline_latency(), after = runs_.plan_latency();
    const TimedReads read = both ? times.baseline_reads(last) : times.baseline_reads();
    std::vector<MeasuredPlan> plans{{*baseline_, before, read, r.baseline, r.baseline_operators}};
    // Without an applied pass there is no other plan to compare.
    if (both) plans.push_back({optimized(), after, times.plan_reads(last), r.optimized, r.optimized_operators});
    Measured how = measured(times);
    how.others = steady_.others();
    how.further = time_.further_batches(Stage::figures, plans.size());
    stormcell::set_figures(work_, how, plans, options_.measure_seconds > 0, r, progress_);
  }

  /// The optimised run with its summary is the session's newest.
  void record() {
    RunSummaryFigures& r = *result_;
    r.session = options_.session;
    SessionRun session(s_, optimized(),
                       {options_.session, RunKind::optimize, true, r.settings, r.config.empty() ? "{}" : r.config},
                       progress_.cancel);
    // Guards are counted over all batches, each once, whether they are recorded or not.
    optimized().guards.clear();
    ExecuteOptions execute;
    execute.record = execute.events = session.open();
    // The baseline's answers were judged in the profiling.
    const bool judges = quality_.open() && candidates_.final_plan != kNoPlan;
    execute.outputs = judges;
    const auto add = [&](const Batch& batch) {
      if (session.open()) session.add(batch);
      if (judges) quality_.add(JudgedAs::optimized, batch, optimized().result.outputs);
    };
    size_t ran = 0;
    if (session.open() || judges || !optimized().program->guards.empty())
      run_over_batches(s_, optimized(), "recording", execute, progress_, batches_, [&](const Batch& batch) {
        add(batch);
        ++ran;
        return time_.plan.remaining() > 0;
      });
    if (ran > 0 && ran < batches_.size())
      leave_out_for_time(
          std::string("after measuring, the optimised plan was ") + (session.open() ? "recorded" : "run again") +
          " on only " + counted(static_cast<int64_t>(ran), "batch") + " of the " + std::to_string(batches_.size()) +
          " that were profiled or measured" + (judges ? ", and the quality of both plans is judged on these" : ""));
    r.quality = quality_.figures(r.warnings);
    tell_of_guards(optimized(), r);
    set_figures_at_end(optimized(), r);
    if (candidates_.final_plan != kNoPlan) warn_of_lost_events(*baseline_, r.warnings);
    tell_of_budget(s_, r.weight_budget, r.warnings);
    if (r.verified->passed && s_.model->changed_files)
      for (std::string& change : s_.model->changed_files())
        r.warnings.push_back(std::move(change) + ", after it was verified");
    end_time(time_, stages_, r);
    r.session_run = session.finish(to_json(r));
  }

  Workload& work_;
  const FoundTarget* found_;
  ExperimentState& s_;
  const OptimizeOptions& options_;
  const Progress& progress_;
  const TimeShare time_;
  StageTimes stages_{time_.plan, time_.is_told ? "opening the model and timing its first batches" : "the phase before"};
  std::vector<ChosenPass> chosen_;
  ProfileSplit split_;
  const std::vector<int64_t> batches_ = FittingBatches{split_.profiled, split_.measured}.all();
  QualityMeter quality_;
  std::shared_ptr<RunSummaryFigures> result_;
  std::unique_ptr<ReadyPlan> baseline_;
  double batch_ms_ = 0;  // mean, of the profile
  LoadProfile profile_, held_out_;
  StatedGains gains_;
  /// A quarter of the time for verification is for proofs.
  ProvedPlans proofs_{work_, profile_, std::min(s_.options.verify_seconds, time_.plan.allowed(Stage::verify)) / 4,
                      progress_};
  Candidates candidates_;
  SteadyMeasuring steady_{
      machine_of(s_, progress_),
      {options_.measure_seconds >= kWorthRepeating && !time_.is_long(), [this] { return time_.plan.remaining(); }}};
  HeldOutRounds rounds_{s_, split_, time_.plan, options_.measure_seconds > 0, steady_, progress_};
  MeasurementRuns runs_;                   // of the stated figures
  MirroredTimes times_;                    // of the plans; if none is left, the last ones in which the baseline ran
  std::optional<MirroredTimes> together_;  // only of the plan that is kept, if that of all plans does not suffice
};

}  // namespace

std::shared_ptr<RunSummaryFigures> optimize_phase(Workload& work, const FoundTarget* found,
                                                  const OptimizeOptions& options, const TimeShare& time,
                                                  const Progress& progress) {
  return Optimization(work, found, options, time, progress).run();
}

}  // namespace stormcell
