#include "app/cli/answers_text.h"

#include <algorithm>
#include <vector>

#include "app/cli/numbers_text.h"
#include "core/summary/exit_target.h"
#include "core/summary/exits_text.h"
#include "core/summary/item_costs_text.h"
#include "core/summary/quality_text.h"

namespace stormcell::cli {
namespace {

/// Quality of the answers by the data's labels. An unverified plan is marked as such.
std::string quality_block(const RunSummaryFigures& f, bool verbose) {
  if (!f.quality) return {};
  const QualityFigures& q = *f.quality;
  const bool both = q.baseline && q.optimized;
  Rows rows;
  const auto add = [&](const std::string& text) { rows.push_back({rows.empty() ? q.measure : "", text}); };
  const std::string after = f.verified && !f.verified->passed ? "not verified: " : both ? "optimised: " : "";
  if (q.baseline) add((both ? "baseline: " : "") + quality_sentence(q, *q.baseline));
  if (q.optimized) add(after + quality_sentence(q, *q.optimized));
  if (f.exit_target) add((both ? "both " : "") + found_thresholds_text(*f.exit_target));
  if (const std::string change = quality_change_text(q); !change.empty()) add(change);
  if (const std::string classes =
          quality_classes_text(q, q.baseline ? &GroupQuality::baseline : &GroupQuality::optimized);
      !classes.empty())
    add((both ? "baseline by class: " : "by class: ") + classes);
  add(quality_source_text(q));
  std::string text = "\n" + table_text(rows, {});
  if (!verbose || q.groups.size() < 2 || q.items < kFewestJudged) return text;
  Rows groups = {{"class", quality_group_items_text(q)}};
  if (q.baseline) groups[0].push_back(both ? "baseline" : q.measure);
  if (q.optimized) groups[0].push_back(both ? "optimised" : q.measure);
  for (const GroupQuality& g : q.groups) {
    groups.push_back({g.name, count_text(g.items)});
    if (q.baseline) groups.back().push_back(g.baseline ? quality_value_text(q.unit, *g.baseline) : "-");
    if (q.optimized) groups.back().push_back(g.optimized ? quality_value_text(q.unit, *g.optimized) : "-");
  }
  return text + "\n" + table_text(groups, {1, 2, 3});
}

/// Early exits: items at each exit, their costs, and the results of other thresholds.
std::string exits_block(const RunSummaryFigures& f, bool verbose) {
  constexpr size_t kPoints = 8;
  if (!f.exits || f.exits->exits.empty()) return {};
  const ExitCurve& c = *f.exits;
  Rows rows = {{"exit", "threshold", "left there", "of these " + c.measure, exit_costs_title(c), "all answered there"}};
  const bool two_orders =
      std::any_of(c.exits.begin(), c.exits.end(), [](const ExitFigures& e) { return e.baseline_cost.has_value(); });
  if (two_orders) rows[0].emplace_back("operations in the model's own order");
  for (size_t e = 0; e < c.exits.size(); ++e) {
    const ExitFigures& exit = c.exits[e];
    rows.push_back({exit_name(c, e) + (exit.router.empty() ? "" : " (" + exit.router + ")"),
                    e < c.thresholds.size() ? exit_threshold_text(c.thresholds[e]) : "-", count_text(exit.items),
                    exit_value_text(c, exit.value), share_text(exit.cost), exit_value_text(c, exit.value_of_all)});
    if (two_orders) rows.back().push_back(exit.baseline_cost ? share_text(*exit.baseline_cost) : "-");
  }
  std::string text = "\n" + exits_sentence(c) + "\n" + table_text(rows, {1, 2, 3, 4, 5, 6});
  Rows curve = {{"one threshold", "mean operations", c.measure}};
  for (size_t e = 0; e < c.exits.size(); ++e) curve[0].push_back(exit_name(c, e));
  for (const size_t p : told_points(c, verbose ? c.curve.size() : kPoints)) {
    const ExitPoint& point = c.curve[p];
    curve.push_back(
        {exit_threshold_text(point.threshold), share_text(point.mean_cost), exit_value_text(c, point.value)});
    for (const int64_t items : point.items) curve.back().push_back(count_text(items));
  }
  std::vector<size_t> right;
  for (size_t column = 0; column < curve[0].size(); ++column) right.push_back(column);
  return text + "\n" + table_text(curve, right) +
         "exits replayed on the scores of one run in which all went through the whole network\noperations: " +
         exit_order_text(c) + "\n";
}

/// Costs of the items; in a network with exits, the exits have the headline.
std::string item_costs_block(const RunSummaryFigures& f, bool verbose) {
  if (!f.item_costs) return {};
  const ItemCostFigures& c = *f.item_costs;
  Rows rows;
  for (auto& [title, text] : item_costs_lines(f)) rows.push_back({std::move(title), std::move(text)});
  rows.push_back({"", item_costs_source_text(f)});
  // Without a quality the page begins with this sentence already.
  const std::string title = f.is_verified() && !f.exits && f.quality ? item_costs_headline(f) : "";
  std::string text = "\n" + (title.empty() ? "" : title + "\n") + table_text(rows, {});
  if (verbose && !c.groups.empty())
    text += "\nof what all branches would take\n" + table_text(item_costs_groups(c), {1, 3});
  return text;
}

/// Thresholds for a budget: the target, the thresholds found, and whether they hold on other data.
std::string target_block(const RunSummaryFigures& f) {
  if (!f.exit_target) return {};
  Rows rows;
  for (auto& [title, text] : exit_target_lines(*f.exit_target)) rows.push_back({std::move(title), std::move(text)});
  return "\n" + table_text(rows, {});
}

}  // namespace

std::string answers_text(const RunSummaryFigures& f, bool verbose) {
  return quality_block(f, verbose) + target_block(f) + exits_block(f, verbose) + item_costs_block(f, verbose);
}

}  // namespace stormcell::cli
