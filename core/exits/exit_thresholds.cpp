#include "core/exits/exit_thresholds.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/bench/option_checks.h"
#include "core/exits/exit_costs.h"
#include "core/exits/exit_times.h"
#include "core/formats/file_text.h"
#include "core/measuring/measured_plans.h"
#include "core/measuring/time_plan.h"
#include "core/summary/exit_target.h"

namespace stormcell {
namespace {

/// A share that is met exactly must not fail by the last bit of a division.
constexpr double kSlack = 1e-9;

void check_exits(Workload& work, const std::string& option) {
  const ExperimentState& s = work.state();
  if (!exit_chain(*work.graph(), s.model->answer))
    bad_input(option, s.model->name + " has no chain of exits, so there are no thresholds to find",
              "leave the option out");
  if (s.data->batch_count() < 2)
    bad_input(option, "the data are one batch, so thresholds would be judged on the data that they are found on",
              "give more, or a smaller --batch");
}

/// The batches of both parts of a split, ascending.
std::vector<int64_t> both_parts(const ProfileSplit& split) {
  return FittingBatches{split.profiled, split.measured}.all();
}

ExitRecord record_or_refuse(Workload& work, const std::string& option, const ProfileSplit& split,
                            const Progress& progress) {
  std::optional<ExitRecord> record = record_exits(work, both_parts(split), progress);
  if (!record || record->judged() == 0)
    bad_input(option,
              work.state().data->name() + " does not say which answers are right, and thresholds are judged by them",
              "give labels: a folder for each class, labels.csv or --label-field");
  return std::move(*record);
}

double mean_cost(const std::vector<std::vector<double>>& costs, const std::vector<int32_t>& taken) {
  double sum = 0;
  for (size_t i = 0; i < taken.size(); ++i) sum += costs[taken[i]][i];
  return taken.empty() ? 0 : sum / static_cast<double>(taken.size());
}

std::vector<int32_t> taken_of(const ExitRecord& record, const std::vector<size_t>& items,
                              const std::vector<double>& thresholds) {
  const std::vector<int32_t> all = record.taken(thresholds);
  std::vector<int32_t> taken;
  for (const size_t i : items) taken.push_back(all[i]);
  return taken;
}

/// The rules of the record get the thresholds that were found.
void use_thresholds(const std::vector<double>& thresholds, FoundTarget& found) {
  for (size_t test = 0; test < thresholds.size(); ++test) {
    ExitTest& of = found.record.chain.tests[test];
    found.in_use.push_back({of.router, thresholds[test]});
    of.rule.threshold = static_cast<float>(thresholds[test]);
  }
}

ExitPoint point(const ExitRecord& record, const std::vector<size_t>& items, const std::vector<double>& thresholds) {
  ExitPoint p = record.point(items, taken_of(record, items, thresholds));
  p.threshold = thresholds.front();
  return p;
}

[[noreturn]] void refuse(const std::string& option, const FoundTarget& found, size_t items) {
  const ExitTarget& t = found.figures;
  bad_input(option,
            exit_target_text(t) +
                (t.is_optimum ? " is beyond every threshold" : " is beyond all thresholds that were tried") +
                " on the " + counted(static_cast<int64_t>(items), t.item) + " that it is searched on: the best is " +
                t.measure + " " + exit_point_text(t, t.fitted, t.fitted_ms),
            "ask for what can be reached");
}

class ThresholdSearch {
 public:
  ThresholdSearch(Workload& work, std::string option, const std::vector<ChosenPass>& chosen, ProfileSplit split,
                  double most_executions, const Progress& progress)
      : work_(work),
        s_(work.state()),
        option_(std::move(option)),
        chosen_(chosen),
        progress_(progress),
        split_(std::move(split)),
        most_executions_(most_executions) {}

  FoundTarget run() {
    check_exits(work_, option_);
    FoundTarget found{{}, {}, record_or_refuse(work_, option_, split_, progress_), {}, {}};
    ExitRecord& record = found.record;
    record.count_in(expected_graphs(work_, chosen_, record.chain), s_.model->answer);
    found.searched_items = record.judged_of(split_.profiled), found.held_out_items = record.judged_of(split_.measured);
    const std::vector<size_t>&searched = found.searched_items, &held_out = found.held_out_items;
    if (searched.empty() || held_out.empty())
      bad_input(option_,
                "one part of the data has no labels: nothing to " + std::string(searched.empty() ? "search" : "judge") +
                    " on",
                "give labels of all, or another --profile-split");
    set_target(found);
    if (found.figures.of == Bounded::latency)
      times_ = measure_exit_times(work_, record.chain, split_, most_executions_, progress_);
    const ExitAim aim = aim_of(found);
    progress_.report("searching thresholds", 0, 0);
    const ExitCase of = record.exit_case(searched, cost_of(record, searched));
    const FoundExits best = find_exits(of, aim, found.figures.own_thresholds, progress_.cancel);
    ExitTarget& t = found.figures;
    t.thresholds = best.thresholds, t.is_optimum = best.is_optimum;
    found.tell_points();
    if (!times_.empty()) {
      t.fitted_ms = best.cost;
      t.predicted_ms = mean_cost(cost_of(record, held_out), taken_of(record, held_out, t.thresholds));
    }
    if (!best.met) refuse(option_, found, searched.size());
    use_thresholds(t.thresholds, found);
    return found;
  }

 private:
  /// Sets the target and the names of its measure.
  void set_target(FoundTarget& found) const {
    ExitTarget& t = found.figures;
    t.measure = std::string(found.record.task->measure), t.unit = std::string(found.record.task->unit),
    t.item = found.record.item;
    t.routers = found.record.chain.routers();
    for (const double threshold : found.record.thresholds()) t.own_thresholds.push_back(as_exit_threshold(threshold));
    if (!s_.options.target_quality.empty()) {
      t.of = Bounded::quality, t.target = parse_quality_target(s_.options.target_quality);
      return;
    }
    const LatencyTarget asked = parse_latency_target(s_.options.target_latency);
    t.of = asked.is_share ? Bounded::operations : Bounded::latency, t.target = asked.value;
  }
  /// The mean part of an item is the measure if every whole is 1.
  static ExitAim aim_of(const FoundTarget& found) {
    return {found.figures.of == Bounded::quality ? ExitAim::Of::part : ExitAim::Of::cost, found.figures.target};
  }
  std::vector<std::vector<double>> cost_of(const ExitRecord& record, const std::vector<size_t>& items) const {
    if (times_.empty()) return record.relative_operations(items);
    std::vector<int64_t> batch;
    for (const size_t i : items) batch.push_back(record.batch[i]);
    return item_milliseconds(times_, batch);
  }

  Workload& work_;
  ExperimentState& s_;
  std::string option_;
  const std::vector<ChosenPass>& chosen_;
  const Progress& progress_;
  ProfileSplit split_;
  double most_executions_;
  ExitTimes times_;  // empty: nobody asked
};

/// The exit that each row of the batch that ran last left by.
std::vector<int32_t> exits_of_rows(const ReadyPlan& plan, const ExitChain& chain, int64_t rows) {
  std::vector<int32_t> taken(rows, static_cast<int32_t>(chain.tests.size()));
  for (const ExecutedDecision& d : plan.result.decisions)
    if (const auto test = chain.test_of(plan.program->routers[d.router].name)) {
      const int32_t leave = residual_branch(chain.tests[*test].rule);
      for (size_t c = 0; c < d.choice.size(); ++c)
        if (d.choice[c] == leave)
          taken.at(d.ancestor.empty() ? c : static_cast<size_t>(d.ancestor[c])) = static_cast<int32_t>(*test);
    }
  return taken;
}

/// Counts how the held-out batches really run.
class RealRun {
 public:
  RealRun(const ExitRecord& record, const ExperimentState& state, const std::vector<double>& thresholds)
      : record_(record),
        state_(state),
        judge_(record.task->judge(*state.model, *state.data, said_before_)),
        left_(record.exits()) {
    const std::vector<int32_t> replayed = record.taken(thresholds);
    for (size_t i = 0; i < replayed.size(); ++i) replayed_[record.scores.front()[i].item] = replayed[i];
    threshold_ = thresholds.front();
  }

  /// True if items of the batch that ran last with `plan` were judged.
  bool add(const ReadyPlan& plan, const Batch& batch) {
    const std::vector<int32_t> taken = exits_of_rows(plan, record_.chain, batch.size());
    const std::vector<double>& operations = record_.operations.at(batch.picture);
    const size_t before = left_.scores.size();
    for (const OutputValue& o : plan.result.outputs)
      if (o.name == state_.model->answer.output) judge_->score(batch, o, left_.scores);
    for (size_t n = before; n < left_.scores.size(); ++n) {
      const int64_t item = left_.scores[n].item;
      const auto row = std::find(batch.items.begin(), batch.items.end(), item) - batch.items.begin();
      const int32_t exit = taken.at(static_cast<size_t>(row));
      const auto said = replayed_.find(item);
      elsewhere_ += said == replayed_.end() || said->second != exit;
      left_.add(exit, operations);
    }
    return left_.scores.size() > before;
  }

  void tell(ExitTarget& t) const {
    t.held_out = point_of(*record_.task, left_);
    t.held_out.threshold = threshold_;
    t.left_elsewhere = elsewhere_;
  }

 private:
  const ExitRecord& record_;
  const ExperimentState& state_;
  std::vector<std::string> said_before_;
  std::unique_ptr<TaskJudge> judge_;
  std::map<int64_t, int32_t> replayed_;  // exit by item
  ItemsLeft left_;
  double threshold_ = 0;
  int64_t elsewhere_ = 0;
};

/// Runs the held-out batches: counts the exits of the items and judges their answers.
void run_held_out(Workload& work, ReadyPlan& plan, const ExitRecord& record, const std::vector<int64_t>& batches,
                  const Progress& progress, ExitTarget& t) {
  ExperimentState& s = work.state();
  RealRun real(record, s, t.thresholds);
  double milliseconds = 0, timed = 0;
  for (size_t i = 0; i < batches.size(); ++i) {
    progress.report("judging thresholds", static_cast<int64_t>(i), std::ssize(batches));
    progress.cancel.check();
    const Batch batch = s.data->batch(batches[i], progress.cancel);
    ExecuteOptions execute;
    execute.outputs = execute.record = true;
    s.run_batch(plan, batch, execute);
    // The replay, too, knows nothing of batches without labels.
    if (real.add(plan, batch) && t.fitted_ms) milliseconds += median_milliseconds(s, plan, batch), ++timed;
  }
  real.tell(t);
  if (timed > 0) t.held_out_ms = milliseconds / timed;
}

bool holds(const ExitTarget& t) {
  if (t.of == Bounded::quality) return t.held_out.value.value_or(0) >= t.target - kSlack;
  return (t.of == Bounded::operations ? t.held_out.mean_cost : t.held_out_ms.value_or(0)) <= t.target + kSlack;
}

/// Here the model's own thresholds are the baseline: the gain of the thresholds that were found, and that of thresholds
/// and passes together.
void measure_beside_own(Workload& work, ReadyPlan& plan, ReadyPlan* optimized, const std::vector<int64_t>& batches,
                        const BesideOwn& measured, const Progress& progress, ExitTarget& t) {
  ExperimentState& s = work.state();
  const auto own =
      s.make_plan("own thresholds", GraphOfSize([&s](PictureSize size) { return s.graph_for(size); }), 0, progress);
  std::vector<ReadyPlan*> beside = {own.get(), &plan};
  if (optimized && optimized != &plan) beside.push_back(optimized);
  MeasuredPlans plans(s, beside, progress);
  MirroredJob job = plans.job(batches, measured.seconds);
  job.most_seconds = measured.most_seconds;
  plans.warm_up(batches.front());
  const MirroredTimes times = measure_mirrored(job, progress);
  if (!tells_speed(times)) return;
  state_target_gains(times.speedup(0), times.speedup(beside.size() - 2), std::ssize(batches), t);
}

}  // namespace

void state_target_gains(const Ratio& of_thresholds, const Ratio& over_model, int64_t held_out, ExitTarget& t) {
  const auto state = [&](const Ratio& ratio, std::optional<double>& speedup,
                         std::optional<std::array<double, 2>>& ci95) {
    const std::optional<SpeedupWithheld> few = too_few(ratio, held_out);
    if (!few && ratio.value > 0) speedup = ratio.value, ci95 = ratio.ci95;
    return few;
  };
  t.withheld = state(of_thresholds, t.speedup, t.speedup_ci95);
  t.over_model_withheld = state(over_model, t.speedup_over_model, t.speedup_over_model_ci95);
}

void FoundTarget::tell_points() {
  figures.fitted = point(record, searched_items, figures.thresholds);
  figures.predicted = point(record, held_out_items, figures.thresholds);
  figures.own = point(record, held_out_items, figures.own_thresholds);
}

bool FoundTarget::exceeds_operations() const {
  return figures.of == Bounded::operations && figures.fitted.mean_cost > figures.target + kSlack;
}

void check_target(ExperimentState& state) {
  const std::string option = target_option(state.options);
  if (option.empty()) return;
  ForwardPass work(state);
  check_exits(work, option);
}

std::optional<FoundTarget> find_thresholds(ExperimentState& state, const std::vector<ChosenPass>& chosen,
                                           const ProfileSplit& split, double most_executions,
                                           const Progress& progress) {
  const std::string option = target_option(state.options);
  if (option.empty()) return std::nullopt;
  ForwardPass work(state);
  return ThresholdSearch(work, option, chosen, split, most_executions, progress).run();
}

ExitTarget judge_thresholds(Workload& work, ReadyPlan& plan, ReadyPlan* optimized, const FoundTarget& found,
                            const std::vector<int64_t>& held_out_batches, std::optional<BesideOwn> measured,
                            const Progress& progress) {
  ExitTarget t = found.figures;
  run_held_out(work, plan, found.record, held_out_batches, progress, t);
  t.met = holds(t);
  if (measured) measure_beside_own(work, plan, optimized, held_out_batches, *measured, progress, t);
  return t;
}

void check_thresholds(const ExperimentState& state, const RouterThresholds& wanted, const std::string& where) {
  if (wanted.empty()) return;
  const std::optional<ExitChain> chain = exit_chain(*state.graph, state.model->answer);
  if (!chain)
    bad_input(where, "has thresholds of exits, and " + state.model->name + " has none",
              "use the model that it was found for");
  std::string came, expected;
  for (const RouterThreshold& t : wanted) came += (came.empty() ? "" : ", ") + t.router;
  for (const std::string& router : chain->routers()) expected += (expected.empty() ? "" : ", ") + router;
  if (came != expected)
    bad_input(where, "has thresholds of " + came,
              "expected one threshold for each exit, in the order in which they run: " + expected);
}

}  // namespace stormcell
