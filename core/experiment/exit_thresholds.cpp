#include "core/experiment/exit_thresholds.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/run_kind.h"
#include "core/experiment/measured_plans.h"
#include "core/formats/file_text.h"
#include "core/summary/exit_target.h"

namespace stormcell {
namespace {

/// The option that asks; empty: none does.
std::string option_of(const ExperimentOptions& o) {
  return !o.target_quality.empty() ? "--target-quality" : !o.target_latency.empty() ? "--target-latency" : "";
}

void check_exits(Workload& work, const std::string& option) {
  const Experiment::State& s = work.state();
  if (!exit_chain(*work.graph(), s.model->answer))
    bad_input(option, s.model->name + " has no chain of exits that answer, whose thresholds could be found", "leave the option out");
  if (s.data->batch_count() < 2)
    bad_input(option, "the data are one batch: thresholds would be judged on what they are found on", "give more, or a smaller --batch");
}

ExitRecord record_or_refuse(Workload& work, const std::string& option, const Progress& progress) {
  std::optional<ExitRecord> record = record_exits(work, progress);
  if (!record || record->items() == 0)
    bad_input(option, work.state().data->name() + " does not say what is right, by which thresholds are judged",
              "give labels: a folder for each class, labels.csv or --label-field");
  return std::move(*record);
}

constexpr int kTimed = 5;  ///< executions that a batch's time is the median of: one alone tells what else the machine did

double median(std::vector<double> of) {
  const auto middle = of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2);
  std::nth_element(of.begin(), middle, of.end());
  return *middle;
}

/// Of a batch of the baseline whose items all answer at one exit, by exit: medians over some of the batches, the exits in turn.
std::vector<double> milliseconds_by_exit(Workload& work, const ExitChain& chain, const std::vector<int64_t>& batches,
                                         const Progress& progress) {
  constexpr size_t kBatches = 12;
  const auto plan = work.make_baseline(progress);
  std::vector<std::vector<double>> times(chain.costs.size());
  const size_t some = std::min(batches.size(), kBatches);
  for (size_t i = 0; i < some; ++i) {
    const Batch batch = work.state().data->batch(batches[i * batches.size() / some], progress.cancel);
    plan->use(batch.picture);
    for (int round = 0; round <= kTimed; ++round)  // the first of them is not counted
      for (size_t exit = 0; exit < times.size(); ++exit) {
        progress.cancel.check();
        const ReplayedDecisions there = all_at(*plan, chain, exit, batch.size());
        ExecuteOptions execute;
        execute.replayed = &there;
        work.state().run_batch(*plan, batch, execute);
        if (round > 0) times[exit].push_back(plan->result.milliseconds);
      }
  }
  std::vector<double> medians;
  for (const std::vector<double>& of : times) medians.push_back(median(of));
  return medians;
}

/// A batch's time, as the mean of what its items would take.
double mean_milliseconds(const ExitPoint& point, const std::vector<double>& milliseconds) {
  double sum = 0, items = 0;
  for (size_t e = 0; e < milliseconds.size(); ++e) {
    sum += static_cast<double>(point.items[e]) * milliseconds[e];
    items += static_cast<double>(point.items[e]);
  }
  return items > 0 ? sum / items : 0;
}

/// The rules of the record get the thresholds that were found.
void put_in(const std::vector<double>& thresholds, FoundTarget& found) {
  for (size_t test = 0; test < thresholds.size(); ++test) {
    found.in_use.push_back({found.record.chain.routers[test], thresholds[test]});
    found.record.chain.rules[test].threshold = static_cast<float>(thresholds[test]);
  }
}

[[noreturn]] void refuse(const std::string& option, const FoundTarget& found, size_t items) {
  const ExitTarget& t = found.figures;
  bad_input(option,
            exit_target_text(t) + " is beyond every threshold on the " + counted(static_cast<int64_t>(items), t.item) +
                " that it is searched on: the best is " + t.measure + " " + exit_point_text(t, t.fitted, t.fitted_ms),
            "ask for what can be reached");
}

class Search {
 public:
  Search(Workload& work, std::string option, const Progress& progress)
      : work_(work),
        s_(work.state()),
        option_(std::move(option)),
        progress_(progress),
        split_(split_batches(s_.data->batch_count(), s_.options.profile_split)) {}

  FoundTarget run() {
    check_exits(work_, option_);
    FoundTarget found{{}, {}, record_or_refuse(work_, option_, progress_), {}};
    const ExitRecord& record = found.record;
    const std::vector<size_t> searched = record.items_of(split_.profiled), held_out = record.items_of(split_.measured);
    if (searched.empty() || held_out.empty())
      bad_input(option_, "one part of the data has no labels: nothing to " + std::string(searched.empty() ? "search" : "judge") + " on",
                "give labels of all, or another --profile-split");
    start(found);
    const ExitAim aim = aim_of(found);
    progress_.report("searching thresholds", 0, 0);
    const FoundExits best = find_exits(record.exit_case(searched, found.milliseconds), aim, found.figures.own_thresholds, progress_.cancel);
    ExitTarget& t = found.figures;
    t.thresholds = best.thresholds, t.is_optimum = best.is_optimum;
    t.fitted = point(record, searched, t.thresholds);
    t.predicted = point(record, held_out, t.thresholds);
    t.own = point(record, held_out, t.own_thresholds);
    if (!found.milliseconds.empty()) {
      t.fitted_ms = mean_milliseconds(t.fitted, found.milliseconds);
      t.predicted_ms = mean_milliseconds(t.predicted, found.milliseconds);
    }
    if (!best.met) refuse(option_, found, searched.size());
    put_in(t.thresholds, found);
    return found;
  }

 private:
  /// What is asked for, and what it is about.
  void start(FoundTarget& found) {
    ExitTarget& t = found.figures;
    t.measure = std::string(found.record.task->measure), t.unit = std::string(found.record.task->unit), t.item = found.record.item;
    t.routers = found.record.chain.routers;
    t.own_thresholds = found.record.thresholds();
    if (!s_.options.target_quality.empty()) {
      t.of = "quality", t.target = parse_quality_target(s_.options.target_quality);
      return;
    }
    const LatencyTarget asked = parse_latency_target(s_.options.target_latency);
    t.of = asked.is_share ? "operations" : "latency", t.target = asked.value;
    if (!asked.is_share) found.milliseconds = milliseconds_by_exit(work_, found.record.chain, split_.profiled, progress_);
  }
  /// Of the mean part of an item, which is the measure where every whole is 1.
  static ExitAim aim_of(const FoundTarget& found) {
    return {found.figures.of == "quality" ? ExitAim::Of::part : ExitAim::Of::cost, found.figures.target};
  }
  static ExitPoint point(const ExitRecord& record, const std::vector<size_t>& items, const std::vector<double>& thresholds) {
    const std::vector<int32_t> all = record.taken(thresholds);
    std::vector<int32_t> taken;
    for (const size_t i : items) taken.push_back(all[i]);
    ExitPoint p = record.point(items, taken);
    p.threshold = thresholds.front();
    return p;
  }

  Workload& work_;
  Experiment::State& s_;
  std::string option_;
  const Progress& progress_;
  ProfileSplit split_;
};

/// The exit that each row of the batch that ran last left by.
std::vector<int32_t> exits_of_rows(const ReadyPlan& plan, const ExitChain& chain, int64_t rows) {
  std::vector<int32_t> taken(static_cast<size_t>(rows), static_cast<int32_t>(chain.routers.size()));
  for (const ExecutedDecision& d : plan.result.decisions)
    for (size_t test = 0; test < chain.routers.size(); ++test) {
      if (plan.program->routers[d.router].name != chain.routers[test]) continue;
      for (size_t c = 0; c < d.choice.size(); ++c)
        if (d.choice[c] == std::max(0, chain.rules[test].residual))
          taken.at(d.ancestor.empty() ? c : static_cast<size_t>(d.ancestor[c])) = static_cast<int32_t>(test);
    }
  return taken;
}

/// Of one batch, as it runs freely.
double timed(Experiment::State& s, ReadyPlan& plan, const Batch& batch) {
  std::vector<double> times;
  for (int round = 0; round < kTimed; ++round) {
    s.run_batch(plan, batch, {});
    times.push_back(plan.result.milliseconds);
  }
  return median(times);
}

/// The held-out batches as they run: who leaves where, what they answer.
void run_held_out(Workload& work, ReadyPlan& plan, const ExitRecord& record, const std::vector<int64_t>& batches, const Progress& progress,
                  ExitTarget& t) {
  Experiment::State& s = work.state();
  std::vector<std::string> said_before;
  const std::unique_ptr<TaskJudge> judge = record.task->judge(*s.model, *s.data, said_before);
  std::vector<ItemScore> scores;
  ExitPoint real;
  real.threshold = t.thresholds.front();
  real.items.assign(record.exits(), 0);
  double milliseconds = 0, cost = 0, of_all = 0, part = 0, whole = 0;
  for (size_t i = 0; i < batches.size(); ++i) {
    progress.report("judging thresholds", static_cast<int64_t>(i), static_cast<int64_t>(batches.size()));
    progress.cancel.check();
    const Batch batch = s.data->batch(batches[i], progress.cancel);
    ExecuteOptions execute;
    execute.outputs = execute.record = true;
    s.run_batch(plan, batch, execute);
    const std::vector<int32_t> taken = exits_of_rows(plan, record.chain, batch.size());
    const std::vector<double>& operations = record.operations.at(batch.picture);
    const size_t before = scores.size();
    for (const OutputValue& o : plan.result.outputs)
      if (o.name == s.model->answer.output) judge->score(batch, o, scores);
    for (size_t n = before; n < scores.size(); ++n) {
      const auto row = std::find(batch.items.begin(), batch.items.end(), scores[n].item) - batch.items.begin();
      const auto exit = static_cast<size_t>(taken.at(static_cast<size_t>(row)));
      ++real.items[exit];
      cost += operations[exit], of_all += operations.back(), part += scores[n].part, whole += scores[n].whole;
    }
    if (t.fitted_ms) milliseconds += timed(s, plan, batch);
  }
  real.value = record.task->value(part, whole), real.value_ci95 = record.task->ci95(scores);
  real.mean_cost = of_all > 0 ? cost / of_all : 1;
  t.held_out = std::move(real);
  if (t.fitted_ms) t.held_out_ms = milliseconds / static_cast<double>(batches.size());
}

bool holds(const ExitTarget& t) {
  constexpr double kSlack = 1e-9;
  if (t.of == "quality") return t.held_out.value >= t.target - kSlack;
  return (t.of == "operations" ? t.held_out.mean_cost : t.held_out_ms.value_or(0)) <= t.target + kSlack;
}

/// The model's own thresholds as the baseline, for once: what the others bring.
void measure_beside_own(Workload& work, ReadyPlan& plan, const std::vector<int64_t>& batches, double seconds, const Progress& progress,
                        ExitTarget& t) {
  Experiment::State& s = work.state();
  const auto own = s.make_plan("own thresholds", GraphOfSize([&s](PictureSize size) { return s.with_own_thresholds(size); }), 0, progress);
  MeasuredPlans plans(s, {own.get(), &plan}, progress);
  const MirroredJob job = plans.job(batches, seconds);
  plans.warm_up(batches.front());
  const Ratio ratio = measure_mirrored(job, progress).speedup(0);
  if (!(ratio.value > 0)) return;
  t.speedup = ratio.value, t.speedup_ci95 = ratio.ci95;
}

}  // namespace

void check_target(const ExperimentOptions& options) {
  const std::string option = option_of(options);
  if (option.empty()) return;
  if (!options.target_quality.empty() && !options.target_latency.empty())
    bad_input("--target-latency", "asks for the best answers within a cost, and --target-quality for the least cost of a quality",
              "leave one of them out");
  if (work_phase(options.phase) != WorkPhase::forward)
    bad_input(option, "is of a forward pass, and --phase " + options.phase + " decodes", "leave one of them out");
}

std::optional<FoundTarget> find_thresholds(Experiment::State& state, const Progress& progress) {
  const std::string option = option_of(state.options);
  if (option.empty()) return std::nullopt;
  ForwardPass work(state);
  return Search(work, option, progress).run();
}

ExitTarget judge_thresholds(Workload& work, ReadyPlan& plan, const FoundTarget& found, const std::vector<int64_t>& held_out, double seconds,
                            const Progress& progress) {
  ExitTarget t = found.figures;
  run_held_out(work, plan, found.record, held_out, progress, t);
  t.met = holds(t);
  measure_beside_own(work, plan, held_out, seconds, progress, t);
  return t;
}

void check_thresholds(const Experiment::State& state, const RouterThresholds& wanted, const std::string& where) {
  if (wanted.empty()) return;
  const std::optional<ExitChain> chain = exit_chain(*state.graph, state.model->answer);
  if (!chain) bad_input(where, "has thresholds of exits, and " + state.model->name + " has none", "use the model that it was found for");
  std::string came, expected;
  for (const RouterThreshold& t : wanted) came += (came.empty() ? "" : ", ") + t.router;
  for (const std::string& router : chain->routers) expected += (expected.empty() ? "" : ", ") + router;
  if (came != expected)
    bad_input(where, "has thresholds of " + came, "expected one of each exit in the order in which they run: " + expected);
}

}  // namespace stormcell
