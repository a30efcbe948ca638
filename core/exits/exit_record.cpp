#include "core/exits/exit_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "core/cell/choose.h"
#include "core/measuring/measured_plans.h"

namespace stormcell {
namespace {

/// 0.9, and not the nearest number in f32.
double as_written(float threshold) { return std::stod(fmt::format("{}", threshold)); }

/// The logits of one batch at every exit, and at the end.
struct BatchLogits {
  std::vector<std::vector<float>> of_exit;  ///< [exits] of [items, classes]
  int64_t items = 0, classes = 0;

  bool is_whole() const {
    const size_t whole = items * classes;
    return std::all_of(of_exit.begin(), of_exit.end(), [&](const std::vector<float>& l) { return l.size() == whole; });
  }
};

BatchLogits logits_of(const ReadyPlan& plan, const ExitChain& chain, const TaskAnswer& answer, int64_t items) {
  BatchLogits logits{std::vector<std::vector<float>>(chain.costs.size()), items, answer.classes};
  for (const ExecutedDecision& d : plan.result.decisions)
    if (const auto test = chain.test_of(plan.program->routers[d.router].name)) logits.of_exit[*test] = d.scores;
  for (const OutputValue& o : plan.result.outputs)
    if (o.name == answer.output) logits.of_exit.back() = o.reals;
  return logits;
}

/// Confidence of each item: the rule's own margin at a threshold of 0, where every item that can leave does. NaN for
/// the others.
std::vector<float> confidences(Protocol rule, const BatchLogits& logits, size_t test) {
  const auto items = static_cast<size_t>(logits.items);
  std::vector<int32_t> choice(items);
  std::vector<float> margin(items);
  DecisionView view;
  view.choice = choice.data(), view.margin = margin.data(), view.branches = 2;
  rule.threshold = 0;
  choose_exit_threshold(
      {.data = logits.of_exit[test].data(), .cells = logits.items, .branches = static_cast<int32_t>(logits.classes)},
      rule, view);
  for (size_t i = 0; i < items; ++i)
    if (choice[i] != residual_branch(rule)) margin[i] = std::numeric_limits<float>::quiet_NaN();
  return margin;
}

/// Operations up to each exit, by the graph for one size; all sizes have the same exits.
std::vector<double> operations_by_exit(const Graph& graph, const TaskAnswer& answer) {
  const ExitChain chain = exit_chain(graph, answer).value();
  std::vector<double> list;
  for (const double share : chain.costs) list.push_back(share * chain.whole);
  return list;
}

/// Scores of the batch's items, in their order; items that are not judged have whole = 0.
std::vector<ItemScore> scores_of(const Batch& batch, const BatchLogits& logits, size_t exit, TaskJudge* judge) {
  std::vector<ItemScore> judged, all;
  if (judge) judge->score(batch, {"", DType::f32, {logits.items, logits.classes}, logits.of_exit[exit], {}}, judged);
  for (const int64_t item : batch.items) {
    const auto at = std::find_if(judged.begin(), judged.end(), [&](const ItemScore& s) { return s.item == item; });
    all.push_back(at == judged.end() ? ItemScore{item, 0, 0} : *at);
  }
  return all;
}

void add(const Batch& batch, const BatchLogits& logits, TaskJudge* judge, ExitRecord& record) {
  for (size_t e = 0; e < record.exits(); ++e) {
    const std::vector<ItemScore> all = scores_of(batch, logits, e, judge);
    record.scores[e].insert(record.scores[e].end(), all.begin(), all.end());
  }
  record.batch.resize(record.scores.front().size(), batch.index);
  record.size.resize(record.batch.size(), batch.picture);
  for (size_t test = 0; test + 1 < record.exits(); ++test) {
    const std::vector<float> all = confidences(record.chain.tests[test].rule, logits, test);
    record.confidence[test].insert(record.confidence[test].end(), all.begin(), all.end());
  }
}

}  // namespace

ReplayedDecisions all_at(const ReadyPlan& plan, const ExitChain& chain, size_t exit, int64_t items) {
  ReplayedDecisions replayed(plan.program->routers.size());
  for (const RouterId r : replayed.ids())
    if (const auto test = chain.test_of(plan.program->routers[r].name)) {
      const int32_t leave = residual_branch(chain.tests[*test].rule);
      replayed[r].push_back({std::vector<int32_t>(items, *test == exit ? leave : 1 - leave), {}});
    }
  return replayed;
}

void ItemsLeft::add(int32_t exit, const std::vector<double>& by_exit) {
  ++items.at(static_cast<size_t>(exit));
  operations += by_exit[exit], through_all += by_exit.back();
}

ExitPoint point_of(const QualityTask& task, ItemsLeft items) {
  ExitPoint p;
  if (!items.scores.empty()) p.value = value_of(task, items.scores), p.value_ci95 = task.ci95(items.scores);
  p.mean_cost = items.through_all > 0 ? items.operations / items.through_all : 1;
  p.items = std::move(items.items);
  return p;
}

size_t ExitRecord::judged() const {
  size_t count = 0;
  for (size_t i = 0; i < items(); ++i) count += is_judged(i);
  return count;
}

std::vector<size_t> ExitRecord::judged_of(const std::vector<int64_t>& batches) const {
  std::vector<size_t> some;
  for (size_t i = 0; i < items(); ++i)
    if (is_judged(i) && std::binary_search(batches.begin(), batches.end(), batch[i])) some.push_back(i);
  return some;
}

std::vector<std::vector<double>> ExitRecord::relative_operations(const std::vector<size_t>& some) const {
  double whole = 0;
  for (const size_t i : some) whole += operations.at(size[i]).back();
  whole = whole > 0 ? whole / static_cast<double>(some.size()) : 1;
  std::vector<std::vector<double>> shares(exits());
  for (size_t e = 0; e < exits(); ++e)
    for (const size_t i : some) shares[e].push_back(operations.at(size[i])[e] / whole);
  return shares;
}

double ExitRecord::baseline_share(size_t exit) const {
  double there = 0, whole = 0;
  for (const PictureSize picture : size) {
    const std::vector<double>& by_exit = baseline_operations.at(picture);
    there += by_exit[exit], whole += by_exit.back();
  }
  return whole > 0 ? there / whole : 1;
}

ExitCase ExitRecord::exit_case(const std::vector<size_t>& some, std::vector<std::vector<double>> cost) const {
  ExitCase c{{}, {}, std::move(cost)};
  for (const std::vector<float>& of : confidence) {
    std::vector<float>& list = c.confidence.emplace_back();
    for (const size_t i : some) list.push_back(of[i]);
  }
  for (const std::vector<ItemScore>& of : scores) {
    std::vector<double>& list = c.part.emplace_back();
    for (const size_t i : some) list.push_back(of[i].part);
  }
  return c;
}

ExitPoint ExitRecord::point(const std::vector<size_t>& some, const std::vector<int32_t>& at) const {
  ItemsLeft items(exits());
  for (size_t i = 0; i < some.size(); ++i) {
    items.add(at[i], operations.at(size[some[i]]));
    if (is_judged(some[i])) items.scores.push_back(scores[at[i]][some[i]]);
  }
  return point_of(*task, std::move(items));
}

void ExitRecord::count_in(const std::optional<GraphOfSize>& graphs, const TaskAnswer& answer) {
  of_baseline = !graphs;
  operations = baseline_operations;
  if (!graphs) return;
  for (auto& [picture, by_exit] : operations) by_exit = operations_by_exit(*(*graphs)(picture), answer);
}

std::vector<double> ExitRecord::thresholds() const {
  std::vector<double> list;
  for (const ExitTest& test : chain.tests) list.push_back(as_written(test.rule.threshold));
  return list;
}

std::optional<ExitRecord> record_exits(Workload& work, const std::vector<int64_t>& batches, const Progress& progress) {
  ExperimentState& s = work.state();
  const TaskAnswer& answer = s.model->answer;
  const QualityTask* task = quality_task(answer.task);
  if (!task || work.phase() != WorkPhase::forward) return std::nullopt;
  std::optional<ExitChain> chain = exit_chain(*work.graph(), answer);
  if (!chain) return std::nullopt;
  std::vector<std::string> said_before;
  const std::unique_ptr<TaskJudge> judge = task->judge(*s.model, *s.data, said_before);
  const auto plan = s.make_plan("all through", work.graph_of_size(), 0, progress, KeepScores::yes);
  ExitRecord record;
  record.chain = std::move(*chain), record.task = task, record.item = std::string(s.data->item_noun());
  record.confidence.resize(record.chain.tests.size());
  record.scores.resize(record.exits());
  for (size_t b = 0; b < batches.size(); ++b) {
    progress.report("exits", static_cast<int64_t>(b), std::ssize(batches));
    progress.cancel.check();
    const Batch batch = s.data->batch(batches[b], progress.cancel);
    plan->use(batch.picture);
    if (!record.baseline_operations.contains(batch.picture))
      record.baseline_operations.emplace(batch.picture, operations_by_exit(*plan->program->graph, answer));
    const ReplayedDecisions on = all_at(*plan, record.chain, record.exits() - 1, batch.size());
    ExecuteOptions execute;
    execute.outputs = execute.record = true;
    execute.replayed = &on;
    s.run_batch(*plan, batch, execute);
    const BatchLogits logits = logits_of(*plan, record.chain, answer, batch.size());
    if (!logits.is_whole()) return std::nullopt;
    add(batch, logits, judge.get(), record);
  }
  record.count_in({}, answer);
  if (judge) record.classes = judge->groups();
  return record;
}

}  // namespace stormcell
