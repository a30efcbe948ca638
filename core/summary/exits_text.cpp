#include "core/summary/exits_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>

#include "core/base/counted.h"
#include "core/base/enum_words.h"
#include "core/cell/router_threshold.h"
#include "core/summary/items_text.h"
#include "core/summary/percent_text.h"
#include "core/summary/quality_text.h"

namespace stormcell {
namespace {

constexpr std::array<std::string_view, 3> kCurvePlans = {"baseline", "optimized", "unknown"};  // row by CurvePlan

}  // namespace

double share_at(const std::vector<int64_t>& items, size_t exit) {
  const auto all = std::accumulate(items.begin(), items.end(), int64_t{0});
  return all > 0 && exit < items.size() ? static_cast<double>(items[exit]) / all : 0;
}

std::string exit_name(size_t exit) { return "exit " + std::to_string(exit + 1); }

std::string exit_name(size_t exit, size_t ends) { return exit + 1 < ends ? exit_name(exit) : "the end"; }

std::string exit_name(const ExitCurve& c, size_t exit) { return exit_name(exit, c.exits.size()); }

std::string exit_value_text(const ExitCurve& c, const std::optional<double>& value) {
  return value ? quality_value_text(c.unit, *value) : "-";
}

std::string exit_threshold_text(double threshold) {
  return threshold <= kAllLeave ? "all leave" : threshold > 1 ? "none leaves" : fmt::format("{}", threshold);
}

std::string_view to_text(CurvePlan plan) { return row_of(kCurvePlans, plan); }

CurvePlan curve_plan(std::string_view word) {
  return value_of_word<CurvePlan>(kCurvePlans, word).value_or(CurvePlan::unknown);
}

std::string exit_plan_text(const ExitCurve& c) {
  return c.plan == CurvePlan::optimized  ? "as the optimised plan runs"
         : c.plan == CurvePlan::baseline ? "in the model's own order"
                                         : "";
}

std::string exit_operations_text(const ExitCurve& c) {
  const std::string plan = exit_plan_text(c);
  return "of the operations of the whole network" + (plan.empty() ? "" : " " + plan);
}

std::string exit_costs_title(const ExitCurve& c) {
  const std::string plan = exit_plan_text(c);
  return "operations" + (plan.empty() ? "" : " " + plan);
}

std::string exit_order_text(const ExitCurve& c) {
  if (!c.plan) return "of the whole network";
  return c.plan == CurvePlan::optimized
             ? "of the whole network, both as the optimised plan runs, in which work may wait for the exits before it; "
               "what guards cost that miss is left out"
             : "of the whole network, both in the model's own order; optimize lets work that only later exits need "
               "wait "
               "for those before them";
}

std::string exits_sentence(const ExitCurve& c) {
  if (c.exits.empty()) return {};
  std::string text;
  for (size_t e = 0; e < c.exits.size(); ++e) {
    text += text.empty() ? percent_text(share_at(c.chosen.items, e)) + " of " + counted(c.items, c.item) + " answer at "
                         : ", " + percent_text(share_at(c.chosen.items, e)) + " at ";
    text += exit_name(c, e);
  }
  text += ": " + percent_text(c.chosen.mean_cost) + " " + exit_operations_text(c);
  if (!c.chosen.value) return text;
  const bool some = c.judged > 0 && c.judged < c.items;  // sessions of before do not say it
  return text + ", " + c.measure + " " + exit_value_text(c, c.chosen.value) +
         (some ? " of the " + with_commas(c.judged) + " that can be judged" : "") +
         "; all of them through the whole network: " + exit_value_text(c, c.exits.back().value_of_all);
}

std::string exits_headline(const RunSummaryFigures& f) {
  if (!f.exits || f.exits->exits.empty()) return {};
  return short_name(f.model) + " answers " + percent_text(share_at(f.exits->chosen.items, 0)) + " of the " +
         noun_for(2, f.exits->item) + " at the first exit";
}

std::string exits_needs_text(const ExitCurve& c) {
  return "needs " + percent_text(c.chosen.mean_cost) + " " + exit_operations_text(c);
}

std::vector<ExitPoint> valued_points(const ExitCurve& c) {
  std::vector<ExitPoint> points;
  std::copy_if(c.curve.begin(), c.curve.end(), std::back_inserter(points),
               [](const ExitPoint& p) { return p.value.has_value(); });
  return points;
}

std::vector<size_t> told_points(const ExitCurve& c, size_t most) {
  std::vector<size_t> changing;
  for (size_t p = 0; p < c.curve.size(); ++p)
    if (changing.empty() || c.curve[p].items != c.curve[changing.back()].items) changing.push_back(p);
  if (changing.size() <= most || most < 2) return changing;
  std::vector<size_t> told;
  for (size_t i = 0; i < most; ++i) told.push_back(changing[i * (changing.size() - 1) / (most - 1)]);
  return told;
}

}  // namespace stormcell
