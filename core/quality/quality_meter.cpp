#include "core/quality/quality_meter.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace stormcell {
namespace {

std::map<int64_t, double> values_of_items(const QualityTask& task, const std::vector<ItemScore>& scores) {
  std::map<int64_t, double> values;
  for (const std::span<const ItemScore> one : by_item(scores)) values[one.front().item] = value_of(task, one);
  return values;
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
  judge_->score(batch, *at, scores_[plan]);
  items_[plan] += batch.size();
}

const std::vector<ItemScore>* QualityMeter::scores_of(JudgedAs plan) const {
  const auto at = scores_.find(plan);
  return at == scores_.end() || at->second.empty() ? nullptr : &at->second;
}

PlanQuality QualityMeter::quality_of(const std::vector<ItemScore>& scores) const {
  PlanQuality quality;
  quality.value = value_of(*task_, scores);
  quality.value_ci95 = task_->ci95(scores);
  quality.items = static_cast<int64_t>(by_item(scores).size());
  if (task_->counts.empty()) return quality;
  double part = 0;
  for (const ItemScore& s : scores) part += s.part;
  quality.counted = std::llround(part);
  return quality;
}

/// Item by item: what both judged.
void QualityMeter::compare(QualityFigures& figures) const {
  const std::vector<ItemScore>*before = scores_of(JudgedAs::baseline), *after = scores_of(JudgedAs::optimized);
  if (!before || !after) return;
  const std::map<int64_t, double> of_item = values_of_items(*task_, *before);
  figures.better = figures.worse = 0;
  for (const auto& [item, value] : values_of_items(*task_, *after)) {
    const auto at = of_item.find(item);
    if (at == of_item.end() || std::fabs(at->second - value) <= task_->least_change) continue;
    ++((value > at->second) == task_->more_is_better ? *figures.better : *figures.worse);
  }
}

void QualityMeter::add_groups(QualityFigures& figures) const {
  const std::vector<std::string> names = judge_->groups();
  std::vector<std::map<JudgedAs, std::vector<ItemScore>>> of_group(names.size());
  for (const auto& [plan, scores] : scores_)
    for (const ItemScore& s : scores) {
      if (s.group < 0 || static_cast<size_t>(s.group) >= names.size()) continue;
      of_group[static_cast<size_t>(s.group)][plan].push_back(s);
    }
  for (size_t g = 0; g < names.size(); ++g) {
    if (of_group[g].empty()) continue;  // none of it in these data
    GroupQuality group{names[g], 0, {}, {}};
    for (const auto& [plan, scores] : of_group[g]) {
      group.items = static_cast<int64_t>(scores.size());
      (plan == JudgedAs::baseline ? group.baseline : group.optimized) = value_of(*task_, scores);
    }
    figures.groups.push_back(std::move(group));
  }
}

void QualityMeter::add_wrong(QualityFigures& figures) const {
  const std::vector<ItemScore>* scores = scores_of(figures.baseline ? JudgedAs::baseline : JudgedAs::optimized);
  const std::vector<std::string> names = judge_->groups();
  for (const ItemScore& s : *scores)
    if (s.answer >= 0 && s.answer != s.group) figures.wrong.push_back({s.item, names.at(static_cast<size_t>(s.answer))});
  std::sort(figures.wrong.begin(), figures.wrong.end(), [](const WrongAnswer& a, const WrongAnswer& b) { return a.item < b.item; });
  if (figures.wrong.size() > kMostWrong) figures.wrong.resize(kMostWrong);
}

std::optional<QualityFigures> QualityMeter::figures(std::vector<std::string>& warnings) const {
  warnings.insert(warnings.end(), warnings_.begin(), warnings_.end());
  if (!open()) return std::nullopt;
  for (std::string& warning : judge_->warnings()) warnings.push_back(std::move(warning));
  QualityFigures figures{std::string(task_->name),     std::string(task_->measure), std::string(task_->unit),
                         std::string(task_->interval), std::string(task_->counts),  item_};
  for (const auto& [plan, quality] : {std::pair{JudgedAs::baseline, &figures.baseline}, {JudgedAs::optimized, &figures.optimized}}) {
    const std::vector<ItemScore>* scores = scores_of(plan);
    if (!scores) continue;
    *quality = quality_of(*scores);
    figures.items = (*quality)->items;
    figures.not_judged = items_.at(plan) - figures.items;
  }
  if (!figures.baseline && !figures.optimized) return std::nullopt;
  figures.judged_share = judge_->judged_share();
  compare(figures);
  add_groups(figures);
  add_wrong(figures);
  return figures;
}

}  // namespace stormcell
