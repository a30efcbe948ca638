#include "core/quality/quality_meter.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <span>
#include <utility>

namespace stormcell {
namespace {

std::map<int64_t, double> values_of_items(const QualityTask& task, const std::vector<ItemScore>& scores) {
  std::map<int64_t, double> values;
  for (const std::span<const ItemScore> one : by_item(scores)) values[one.front().item] = value_of(task, one);
  return values;
}

bool has_scores(const std::vector<JudgedBatch>& batches) {
  return std::any_of(batches.begin(), batches.end(), [](const JudgedBatch& b) { return !b.scores.empty(); });
}

std::set<int64_t> numbers_of(const std::vector<JudgedBatch>& batches) {
  std::set<int64_t> numbers;
  for (const JudgedBatch& b : batches) numbers.insert(b.index);
  return numbers;
}

/// The batches that every plan with a score ran.
std::set<int64_t> common_batches(const std::map<JudgedAs, std::vector<JudgedBatch>>& ran) {
  std::optional<std::set<int64_t>> common;
  for (const auto& [plan, batches] : ran) {
    if (!has_scores(batches)) continue;
    std::set<int64_t> own = numbers_of(batches);
    if (common)
      std::erase_if(*common, [&](int64_t number) { return !own.contains(number); });
    else
      common = std::move(own);
  }
  return common.value_or(std::set<int64_t>());
}

}  // namespace

QualityMeter::QualityMeter(const Model& model, const Dataset& data)
    : task_(quality_task(model.answer.task)), output_(model.answer.output), item_(data.item_noun()) {
  if (task_) judge_ = task_->judge(model, data, warnings_);
}

void QualityMeter::add(JudgedAs plan, const Batch& batch, const std::vector<OutputValue>& outputs) {
  if (!open()) return;
  const auto at = std::find_if(outputs.begin(), outputs.end(), [&](const OutputValue& o) { return o.name == output_; });
  if (at == outputs.end()) return;
  JudgedBatch& judged = batches_[plan].emplace_back();
  judged.index = batch.index, judged.items = batch.size();
  judge_->score(batch, *at, judged.scores);
}

/// Sets `batches` if one plan ran more of them than the other.
QualityMeter::JudgedPlans QualityMeter::judged_plans(std::optional<int64_t>& batches) const {
  const std::set<int64_t> common = common_batches(batches_);
  JudgedPlans plans;
  for (const auto& [plan, ran] : batches_) {
    if (!has_scores(ran)) continue;
    Judged judged;
    for (const JudgedBatch& b : ran) {
      if (!common.contains(b.index)) {
        batches = std::ssize(common);
        continue;
      }
      judged.scores.insert(judged.scores.end(), b.scores.begin(), b.scores.end());
      judged.items += b.items;
    }
    if (!judged.scores.empty()) plans.emplace(plan, std::move(judged));
  }
  return plans;
}

PlanQuality QualityMeter::quality_of(const std::vector<ItemScore>& scores) const {
  PlanQuality quality;
  quality.value = value_of(*task_, scores);
  quality.value_ci95 = task_->ci95(scores);
  quality.items = std::ssize(by_item(scores));
  if (task_->counts.empty()) return quality;
  double part = 0;
  for (const ItemScore& s : scores) part += s.part;
  quality.counted = std::llround(part);
  return quality;
}

/// Item by item: what both judged.
void QualityMeter::compare(const JudgedPlans& judged, QualityFigures& figures) const {
  const auto before = judged.find(JudgedAs::baseline), after = judged.find(JudgedAs::optimized);
  if (before == judged.end() || after == judged.end()) return;
  const std::map<int64_t, double> of_item = values_of_items(*task_, before->second.scores);
  figures.better = figures.worse = 0;
  for (const auto& [item, value] : values_of_items(*task_, after->second.scores)) {
    const auto at = of_item.find(item);
    if (at == of_item.end()) continue;
    const double least = task_->least_change * (task_->change_is_share ? std::fabs(at->second) : 1);
    if (std::fabs(at->second - value) <= least) continue;
    ++((value > at->second) == task_->more_is_better ? *figures.better : *figures.worse);
  }
}

void QualityMeter::add_groups(const JudgedPlans& judged, QualityFigures& figures) const {
  const std::vector<std::string> names = judge_->groups();
  std::vector<std::map<JudgedAs, std::vector<ItemScore>>> of_group(names.size());
  for (const auto& [plan, of_plan] : judged)
    for (const ItemScore& s : of_plan.scores) {
      if (s.group < 0 || static_cast<size_t>(s.group) >= names.size()) continue;
      of_group[s.group][plan].push_back(s);
    }
  for (size_t g = 0; g < names.size(); ++g) {
    if (of_group[g].empty()) continue;  // none of it in these data
    GroupQuality group{names[g], 0, {}, {}};
    for (const auto& [plan, scores] : of_group[g]) {
      group.items = std::ssize(scores);
      (plan == JudgedAs::baseline ? group.baseline : group.optimized) = value_of(*task_, scores);
    }
    figures.groups.push_back(std::move(group));
  }
}

void QualityMeter::add_wrong(const JudgedPlans& judged, QualityFigures& figures) const {
  const std::vector<ItemScore>& scores = judged.at(figures.baseline ? JudgedAs::baseline : JudgedAs::optimized).scores;
  const std::vector<std::string> names = judge_->groups();
  for (const ItemScore& s : scores)
    if (s.answer >= 0 && s.answer != s.group)
      figures.wrong.push_back({s.item, names.at(static_cast<size_t>(s.answer))});
  std::sort(figures.wrong.begin(), figures.wrong.end(),
            [](const WrongAnswer& a, const WrongAnswer& b) { return a.item < b.item; });
  if (figures.wrong.size() > kMostWrong) figures.wrong.resize(kMostWrong);
}

std::optional<QualityFigures> QualityMeter::figures(std::vector<std::string>& warnings) const {
  warnings.insert(warnings.end(), warnings_.begin(), warnings_.end());
  if (!open()) return std::nullopt;
  for (std::string& warning : judge_->warnings()) warnings.push_back(std::move(warning));
  QualityFigures figures{std::string(task_->name),     std::string(task_->measure), std::string(task_->unit),
                         std::string(task_->interval), std::string(task_->counts),  item_};
  const JudgedPlans judged = judged_plans(figures.batches);
  if (judged.empty()) return std::nullopt;
  for (const auto& [plan, of_plan] : judged) {
    const PlanQuality quality = quality_of(of_plan.scores);
    figures.items = quality.items;
    figures.not_judged = of_plan.items - quality.items;
    (plan == JudgedAs::baseline ? figures.baseline : figures.optimized) = quality;
  }
  figures.judged_share = judge_->judged_share();
  compare(judged, figures);
  add_groups(judged, figures);
  add_wrong(judged, figures);
  return figures;
}

}  // namespace stormcell
