#include "core/summary/quality_text.h"

#include <fmt/format.h>

#include "core/base/counted.h"
#include "core/summary/items_text.h"

namespace stormcell {
namespace {

/// A share in percent: one digit behind the point, and more if they are needed to tell it from 0 and 1.
std::string percent_number(double share) {
  const double off = share < 0.5 ? share : 1 - share;
  return fmt::format("{:.{}f}", 100 * share, off > 0 && off < 0.0005 ? 3 : 1);
}

std::string number(std::string_view unit, double value) {
  return is_share(unit) ? percent_number(value) : fmt::format("{:.2f}", value);
}

constexpr const char* kNotJudged = "not judged";

}  // namespace

bool is_judged(const PlanQuality& plan) { return plan.items >= kFewestJudged; }

std::optional<std::string> not_judged_text(const PlanQuality& plan) {
  if (is_judged(plan)) return {};
  return counted(plan.items, "item was", "items were") + " judged, and " + std::to_string(kFewestJudged) +
         " are needed";
}

bool is_share(std::string_view unit) { return unit == "share"; }

std::string quality_title(const QualityFigures& q) {
  std::string title = q.measure;
  if (!title.empty() && title[0] >= 'a' && title[0] <= 'z') title[0] = static_cast<char>(title[0] - 'a' + 'A');
  return title;
}

std::string quality_value_text(std::string_view unit, double value) {
  return number(unit, value) + (is_share(unit) ? " %" : unit.empty() ? "" : " " + std::string(unit));
}

std::string quality_text(std::string_view unit, double value, const std::optional<std::array<double, 2>>& ci95) {
  return quality_value_text(unit, value) +
         (ci95 ? " [" + number(unit, (*ci95)[0]) + ", " + number(unit, (*ci95)[1]) + "]" : "");
}

std::string plan_quality_text(const QualityFigures& q, const PlanQuality& plan) {
  return is_judged(plan) ? quality_text(q.unit, plan.value, plan.value_ci95) : kNotJudged;
}

std::string quality_sentence(const QualityFigures& q, const PlanQuality& plan) {
  if (!is_judged(plan)) return std::string(kNotJudged) + " (" + counted(plan.items, q.item) + ")";
  const std::string value = plan_quality_text(q, plan);
  if (!plan.counted) return value + " over " + counted(plan.items, q.item);
  return value + ", " + with_commas(*plan.counted) + " of " + counted(plan.items, q.item) + " " + q.counts;
}

std::string quality_change_text(const QualityFigures& q) {
  if (!q.better || !q.worse || q.items < kFewestJudged) return {};
  if (*q.better == 0 && *q.worse == 0)
    return "the optimised plan answers each of the " + counted(q.items, q.item) + " as well as the baseline";
  return "the optimised plan answers " + counted(*q.better, q.item) + " better than the baseline and " +
         with_commas(*q.worse) + " worse";
}

std::string quality_classes_text(const QualityFigures& q, std::optional<double> GroupQuality::*plan) {
  constexpr size_t kFew = 4;
  if (q.groups.size() < 2 || q.groups.size() > kFew || q.items < kFewestJudged) return {};
  std::string text;
  for (const GroupQuality& g : q.groups)
    if (g.*plan) text += (text.empty() ? "" : ", ") + g.name + " " + quality_value_text(q.unit, *(g.*plan));
  return text;
}

std::string quality_group_items_text(const QualityFigures& q) {
  return noun_for(2, q.item) + (q.task == "segmentation" ? " that show it or are answered so" : "");
}

std::string quality_source_text(const QualityFigures& q) {
  std::string text =
      q.batches ? "over the " + counted(*q.batches, "batch") + " that both plans ran before the time was up, each once"
                : std::string("over all batches, each once");
  const bool interval = (q.baseline && q.baseline->value_ci95) || (q.optimized && q.optimized->value_ci95);
  if (interval) text += "; 95 % interval by " + q.interval;
  if (q.judged_share) text += "; " + percent_number(*q.judged_share) + " % of the values are judged";
  if (q.not_judged > 0)
    text += q.judged_share ? ", of " + counted(q.not_judged, q.item) + " none"
                           : "; of " + counted(q.not_judged, q.item) + " more the data do not say what is right";
  return text;
}

}  // namespace stormcell
