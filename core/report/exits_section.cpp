#include <fmt/format.h>

#include <algorithm>

#include "core/report/html.h"
#include "core/report/sections.h"
#include "core/report/ticks.h"
#include "core/summary/exit_target.h"
#include "core/summary/exits_text.h"
#include "core/summary/quality_text.h"

namespace stormcell::report {
namespace {

/// Quality against mean cost: the curve of one threshold for all exits with its intervals, and the thresholds that ran,
/// which have a value, as a ring.
std::string curve_picture(const ExitCurve& c) {
  constexpr double kLeft = 58, kTop = 28, kWide = 566, kHigh = 240;
  const std::vector<ExitPoint> points = valued_points(c);
  double least = *c.chosen.value, most = least;
  const auto take = [&](const ExitPoint& p) {
    least = std::min(least, p.value_ci95 ? (*p.value_ci95)[0] : *p.value);
    most = std::max(most, p.value_ci95 ? (*p.value_ci95)[1] : *p.value);
  };
  for (const ExitPoint& p : points) take(p);
  take(c.chosen);
  const double room = std::max((most - least) * 0.1, 5e-3);  // ticks of a share lie tenths of a percent apart at least
  least -= room, most += room;
  const auto x = [&](double cost) { return kLeft + kWide * std::clamp(cost, 0.0, 1.0); };
  const auto y = [&](double value) { return kTop + kHigh * (1 - (value - least) / (most - least)); };
  const std::string plan = exit_plan_text(c);
  std::string svg = fmt::format(
      "<svg viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\" role=\"img\" aria-label=\"{2} against "
      "mean operations; "
      "the table below has every number\">\n<text x=\"0\" y=\"14\">{2} against mean operations</text>\n",
      kLeft + kWide + 16, kTop + kHigh + (plan.empty() ? 40 : 56), escape(c.measure));
  for (int tenth = 0; tenth <= 10; tenth += 2)
    svg += fmt::format("<text class=\"soft mid\" x=\"{:.1f}\" y=\"{:.1f}\">{} %</text>\n", x(tenth / 10.0),
                       kTop + kHigh + 16, 10 * tenth);
  const bool share = is_share(c.unit);
  for (const double value : ticks(share ? std::max(least, 0.0) : least, share ? std::min(most, 1.0) : most))
    svg += fmt::format(
        "<line class=\"axis\" x1=\"{0:.1f}\" x2=\"{1:.1f}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/><text class=\"soft end\" "
        "x=\"{3:.1f}\" "
        "y=\"{4:.1f}\">{5}</text>\n",
        kLeft, kLeft + kWide, y(value), kLeft - 6, y(value) + 4, escape(exit_value_text(c, value)));
  svg +=
      fmt::format("<text class=\"soft mid\" x=\"{:.1f}\" y=\"{:.1f}\">mean operations, of the whole network</text>\n",
                  kLeft + kWide / 2, kTop + kHigh + 34);
  if (!plan.empty())
    svg += fmt::format("<text class=\"soft mid\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", kLeft + kWide / 2,
                       kTop + kHigh + 50, escape(plan));
  std::string line, upper, lower, dots;
  for (const ExitPoint& p : points) {
    const double at_x = x(p.mean_cost), at_y = y(*p.value);
    line += fmt::format("{}{:.1f} {:.1f}", line.empty() ? "M" : "L", at_x, at_y);
    dots += fmt::format("<circle class=\"bar\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2\"/>", at_x, at_y);
    if (!p.value_ci95) continue;
    upper += fmt::format("{}{:.1f} {:.1f}", upper.empty() ? "M" : "L", at_x, y((*p.value_ci95)[1]));
    lower = fmt::format("L{:.1f} {:.1f}", at_x, y((*p.value_ci95)[0])) + lower;
  }
  if (!upper.empty()) svg += "<path class=\"band\" d=\"" + upper + lower + "z\"/>\n";
  svg += "<path class=\"curve\" d=\"" + line + "\"/>" + dots + "\n";
  const double ran_x = x(c.chosen.mean_cost), ran_y = y(*c.chosen.value);
  if (c.chosen.value_ci95)
    svg += fmt::format("<line class=\"ran\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\"/>", ran_x,
                       y((*c.chosen.value_ci95)[0]), y((*c.chosen.value_ci95)[1]));
  svg += fmt::format(
      "<circle class=\"ran\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\"/><text class=\"end\" x=\"{:.1f}\" y=\"{:.1f}\">ring: "
      "{} at {}</text>\n",
      ran_x, ran_y, kLeft + kWide, 14.0, escape(exit_value_text(c, c.chosen.value)), percent(c.chosen.mean_cost));
  return svg + "</svg>\n";
}

Table exits_table(const ExitCurve& c) {
  std::vector<std::string> names = {"exit",
                                    "threshold",
                                    "left there",
                                    escape(c.measure) + " of these",
                                    escape(exit_costs_title(c)),
                                    escape(c.measure) + " where all answer there"};
  const bool two_orders =
      std::any_of(c.exits.begin(), c.exits.end(), [](const ExitFigures& e) { return e.baseline_cost.has_value(); });
  if (two_orders) names.emplace_back("operations in the model's own order");
  Table table("Exits, with the thresholds that ran", names);
  for (size_t e = 0; e < c.exits.size(); ++e) {
    const ExitFigures& exit = c.exits[e];
    std::vector<std::string> row = {
        exit_name(c, e) + (exit.router.empty() ? "" : " (<code>" + escape(exit.router) + "</code>)"),
        e < c.thresholds.size() ? exit_threshold_text(c.thresholds[e]) : "–",
        count(exit.items),
        escape(exit_value_text(c, exit.value)),
        percent(exit.cost),
        escape(exit_value_text(c, exit.value_of_all))};
    if (two_orders) row.push_back(exit.baseline_cost ? percent(*exit.baseline_cost) : "–");
    table.row(row);
  }
  return table;
}

/// Thresholds that were found for a target.
std::string target_part(const ReportData& d) {
  if (!d.figures.exit_target) return {};
  Table table("Thresholds for a target, " + escape(exit_costs_title(*d.figures.exits)), {"", ""}, 2);
  for (const auto& [title, text] : exit_target_lines(*d.figures.exit_target)) table.row({escape(title), escape(text)});
  return table.html();
}

/// Items by exit behind the cells of a row.
void add_items(const std::vector<int64_t>& items, std::vector<std::string>& row) {
  for (const int64_t i : items) row.push_back(count(i));
}

std::vector<std::string> head(const ExitCurve& c, std::vector<std::string> first) {
  for (size_t e = 0; e < c.exits.size(); ++e) first.push_back(exit_name(c, e));
  return first;
}

}  // namespace

std::string exits_section(const ReportData& d) {
  if (!d.figures.exits || d.figures.exits->exits.empty()) return {};
  const ExitCurve& c = *d.figures.exits;
  Table curve("Other thresholds, one for all exits",
              head(c, {"threshold", "mean " + escape(exit_costs_title(c)), escape(c.measure), "95 % interval"}));
  for (const ExitPoint& p : c.curve) {
    std::vector<std::string> row = {
        exit_threshold_text(p.threshold), percent(p.mean_cost), escape(exit_value_text(c, p.value)),
        p.value_ci95
            ? escape(exit_value_text(c, (*p.value_ci95)[0])) + " to " + escape(exit_value_text(c, (*p.value_ci95)[1]))
            : "–"};
    add_items(p.items, row);
    curve.row(row);
  }
  Table classes("Exits by class, with the thresholds that ran", head(c, {"class"}));
  for (const ExitClass& of : c.classes) {
    std::vector<std::string> row = {shortened(of.name, 60)};
    add_items(of.items, row);
    classes.row(row);
  }
  return section(
      "exits", "Early exits",
      paragraph(escape(exits_sentence(c)) + ".") + target_part(d) +
          (c.chosen.value
               ? figure(
                     curve_picture(c),
                     "What every threshold would give, with its 95 % interval as a band; the ring is those that ran, "
                     "with theirs as a "
                     "line.",
                     d.measured() +
                         " Exits replayed on the scores of one run in which every item went through the whole network.")
               : paragraph("The data do not say what is right: how good the answers are is not known.", "note")) +
          exits_table(c).details() + curve.details() + (classes.empty() ? "" : classes.details()) +
          paragraph("Operations are counted, " + escape(exit_order_text(c)) + "; they are not times.", "note"));
}

}  // namespace stormcell::report
