#include "core/experiment/exit_curve.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "core/cell/choose.h"
#include "core/experiment/exit_chain.h"
#include "core/experiment/measured_plans.h"
#include "core/quality/task.h"

namespace stormcell {
namespace {

/// Thresholds of the curve: round numbers, closer where softmaxes crowd; at 0 all items leave at the first exit, beyond 1 none does.
std::vector<double> grid() {
  std::vector<double> list;
  for (int percent = 0; percent < 98; percent += percent < 80 ? 5 : 2) list.push_back(percent / 100.0);
  for (const double t : {0.98, 0.99, 0.995, 0.999, 2.0}) list.push_back(t);
  return list;
}

/// 0.9, and not what is nearest to it in f32.
double as_written(float threshold) { return std::stod(fmt::format("{}", threshold)); }

/// What was seen so far with one set of thresholds.
struct Point {
  std::vector<double> thresholds;  ///< by exit
  std::vector<int64_t> items;      ///< by exit, judged ones
  std::vector<ItemScore> scores;   ///< of all judged items
  std::vector<int32_t> exit_of;    ///< of each score
};

/// The logits of one batch at every exit, and at the end.
struct BatchLogits {
  std::vector<std::vector<float>> of_exit;  ///< [exits + 1] of [items, classes]
  int64_t items = 0, classes = 0;

  const float* row(size_t exit, int64_t item) const { return of_exit[exit].data() + item * classes; }
};

class Replay {
 public:
  Replay(const ExitChain& chain, const QualityTask& task, TaskJudge& judge) : chain_(chain), task_(task), judge_(judge) {
    add_point([&](size_t exit) { return as_written(chain_.rules[exit].threshold); });
    for (const double t : grid()) add_point([&](size_t) { return t; });
    // Every item at one exit, whatever it scores.
    for (size_t at = 0; at < exits(); ++at) add_point([&](size_t exit) { return exit < at ? 2.0 : -1.0; });
  }

  void add(const Batch& batch, const BatchLogits& logits) {
    for (Point& point : points_) replay(point, batch, logits);
  }

  ExitCurve figures(const std::vector<std::string>& classes) const {
    ExitCurve c;
    c.measure = std::string(task_.measure), c.unit = std::string(task_.unit);
    const Point& chosen = points_.front();
    c.items = static_cast<int64_t>(chosen.scores.size());
    c.thresholds = chosen.thresholds;
    c.chosen = figures_of(chosen);
    const size_t count = grid().size();
    for (size_t p = 1; p <= count; ++p) c.curve.push_back(figures_of(points_[p]));
    for (size_t e = 0; e < exits(); ++e) {
      ExitFigures exit{e < chain_.routers.size() ? chain_.routers[e] : std::string(), chain_.costs[e], chosen.items[e], {}, 0};
      exit.value = value_at(chosen, static_cast<int32_t>(e));
      exit.value_of_all = figures_of(points_[1 + count + e]).value;
      c.exits.push_back(std::move(exit));
    }
    for (size_t g = 0; g < classes.size(); ++g) add_class(chosen, static_cast<int32_t>(g), classes[g], c);
    return c;
  }

 private:
  size_t exits() const { return chain_.costs.size(); }

  template <class Threshold>
  void add_point(Threshold threshold) {
    Point& point = points_.emplace_back();
    for (size_t e = 0; e < chain_.rules.size(); ++e) point.thresholds.push_back(threshold(e));
    point.items.assign(exits(), 0);
  }

  /// The exit that each item of a batch takes: the first whose rule lets it leave.
  std::vector<int32_t> exits_of(const Point& point, const BatchLogits& logits) const {
    const auto items = static_cast<size_t>(logits.items);
    std::vector<int32_t> exit_of(items, static_cast<int32_t>(exits()) - 1), choice(items);
    std::vector<float> margin(items);
    for (size_t e = chain_.rules.size(); e-- > 0;) {
      Protocol rule = chain_.rules[e];
      rule.threshold = static_cast<float>(point.thresholds[e]);
      DecisionView view;
      view.choice = choice.data(), view.margin = margin.data(), view.branches = 2;
      choose_exit_threshold({.data = logits.of_exit[e].data(), .cells = logits.items, .branches = static_cast<int32_t>(logits.classes)},
                            rule, view);
      for (size_t i = 0; i < items; ++i)
        if (choice[i] == std::max(0, rule.residual)) exit_of[i] = static_cast<int32_t>(e);
    }
    return exit_of;
  }

  void replay(Point& point, const Batch& batch, const BatchLogits& logits) {
    const std::vector<int32_t> exit_of = exits_of(point, logits);
    OutputValue answers{"", DType::f32, {logits.items, logits.classes}, {}, {}};
    for (int64_t i = 0; i < logits.items; ++i) {
      const float* row = logits.row(static_cast<size_t>(exit_of[static_cast<size_t>(i)]), i);
      answers.reals.insert(answers.reals.end(), row, row + logits.classes);
    }
    const size_t before = point.scores.size();
    judge_.score(batch, answers, point.scores);
    for (size_t s = before; s < point.scores.size(); ++s) {
      const auto row = std::find(batch.items.begin(), batch.items.end(), point.scores[s].item) - batch.items.begin();
      point.exit_of.push_back(exit_of[static_cast<size_t>(row)]);
      ++point.items[static_cast<size_t>(point.exit_of.back())];
    }
  }

  ExitPoint figures_of(const Point& point) const {
    ExitPoint f{point.thresholds.empty() ? 0 : point.thresholds.front(), 0, 0, task_.ci95(point.scores), point.items};
    double part = 0, whole = 0, cost = 0;
    for (const ItemScore& s : point.scores) part += s.part, whole += s.whole;
    f.value = task_.value(part, whole);
    for (size_t e = 0; e < exits(); ++e) cost += static_cast<double>(point.items[e]) * chain_.costs[e];
    f.mean_cost = point.scores.empty() ? 1 : cost / static_cast<double>(point.scores.size());
    return f;
  }

  std::optional<double> value_at(const Point& point, int32_t exit) const {
    double part = 0, whole = 0;
    for (size_t s = 0; s < point.scores.size(); ++s)
      if (point.exit_of[s] == exit) part += point.scores[s].part, whole += point.scores[s].whole;
    return whole > 0 ? std::optional(task_.value(part, whole)) : std::nullopt;
  }

  void add_class(const Point& point, int32_t group, const std::string& name, ExitCurve& c) const {
    ExitClass of{name, std::vector<int64_t>(exits(), 0)};
    bool any = false;
    for (size_t s = 0; s < point.scores.size(); ++s)
      if (point.scores[s].group == group) ++of.items[static_cast<size_t>(point.exit_of[s])], any = true;
    if (any) c.classes.push_back(std::move(of));
  }

  const ExitChain& chain_;
  const QualityTask& task_;
  TaskJudge& judge_;
  std::vector<Point> points_;  // with the model's thresholds, along the grid, all items at one exit
};

/// Every item goes on at every router.
ReplayedDecisions all_go_on(const ReadyPlan& plan, const ExitChain& chain, int64_t items) {
  ReplayedDecisions replayed(plan.program->routers.size());
  for (const RouterId r : replayed.ids())
    for (size_t e = 0; e < chain.routers.size(); ++e)
      if (plan.program->routers[r].name == chain.routers[e])
        replayed[r].push_back({std::vector<int32_t>(static_cast<size_t>(items), 1 - std::max(0, chain.rules[e].residual)), {}});
  return replayed;
}

BatchLogits logits_of(const ReadyPlan& plan, const ExitChain& chain, const TaskAnswer& answer, int64_t items) {
  BatchLogits logits{std::vector<std::vector<float>>(chain.costs.size()), items, answer.classes};
  for (const ExecutedDecision& d : plan.result.decisions)
    for (size_t e = 0; e < chain.routers.size(); ++e)
      if (plan.program->routers[d.router].name == chain.routers[e]) logits.of_exit[e] = d.scores;
  for (const OutputValue& o : plan.result.outputs)
    if (o.name == answer.output) logits.of_exit.back() = o.reals;
  return logits;
}

}  // namespace

std::optional<ExitCurve> exit_curve(Workload& work, const Progress& progress) {
  Experiment::State& s = work.state();
  const TaskAnswer& answer = s.model->answer;
  const QualityTask* task = quality_task(answer.task);
  if (!task || work.phase() != WorkPhase::forward) return std::nullopt;
  const std::optional<ExitChain> chain = exit_chain(*work.graph(), answer);
  if (!chain) return std::nullopt;
  std::vector<std::string> said_before;
  const std::unique_ptr<TaskJudge> judge = task->judge(*s.model, *s.data, said_before);
  if (!judge) return std::nullopt;
  const auto plan = s.make_plan("all through", work.graph_of_size(), 0, progress, KeepScores::yes);
  Replay replay(*chain, *task, *judge);
  for (int64_t b = 0; b < s.data->batch_count(); ++b) {
    progress.report("exits", b, s.data->batch_count());
    progress.cancel.check();
    const Batch batch = s.data->batch(b);
    plan->use(batch.picture);
    const ReplayedDecisions on = all_go_on(*plan, *chain, batch.size());
    ExecuteOptions execute;
    execute.outputs = execute.record = true;
    execute.replayed = &on;
    s.run_batch(*plan, batch, execute);
    const BatchLogits logits = logits_of(*plan, *chain, answer, batch.size());
    const auto whole = static_cast<size_t>(logits.items * logits.classes);
    if (std::any_of(logits.of_exit.begin(), logits.of_exit.end(), [&](const auto& l) { return l.size() != whole; })) return std::nullopt;
    replay.add(batch, logits);
  }
  ExitCurve curve = replay.figures(judge->groups());
  curve.item = s.data->sizes().empty() ? "item" : "picture";
  return curve;
}

}  // namespace stormcell
