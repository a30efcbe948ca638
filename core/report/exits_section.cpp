#include <fmt/format.h>

#include <algorithm>

#include "core/report/html.h"
#include "core/report/sections.h"
#include "core/summary/exit_target.h"
#include "core/summary/exits_text.h"

namespace stormcell::report {
namespace {

/// Quality against mean cost: the curve of one threshold for all exits, and the thresholds that ran as a ring.
std::string curve_picture(const ExitCurve& c) {
  constexpr double kLeft = 56, kTop = 12, kWide = 520, kHigh = 220;
  double least = c.chosen.value.value(), most = least;
  for (const ExitPoint& p : c.curve) least = std::min(least, p.value.value()), most = std::max(most, p.value.value());
  const double room = std::max((most - least) * 0.1, 1e-3);
  least -= room, most += room;
  const auto x = [&](double cost) { return kLeft + kWide * std::clamp(cost, 0.0, 1.0); };
  const auto y = [&](double value) { return kTop + kHigh * (1 - (value - least) / (most - least)); };
  std::string svg = fmt::format(
      "<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"{} against mean operations; the table below has every number\">\n",
      kLeft + kWide + 20, kTop + kHigh + 44, escape(c.measure));
  for (int tenth = 0; tenth <= 10; tenth += 2)
    svg += fmt::format("<text class=\"soft mid\" x=\"{:.1f}\" y=\"{:.1f}\">{} %</text>\n", x(tenth / 10.0), kTop + kHigh + 18, 10 * tenth);
  for (const double value : {least + room, most - room})
    svg += fmt::format("<text class=\"soft end\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", kLeft - 8, y(value) + 4,
                       escape(exit_value_text(c, value)));
  svg += fmt::format("<text class=\"soft mid\" x=\"{:.1f}\" y=\"{:.1f}\">mean operations</text>\n", kLeft + kWide / 2, kTop + kHigh + 38);
  svg += fmt::format("<path fill=\"none\" stroke=\"currentColor\" stroke-opacity=\"0.35\" d=\"M{:.1f} {:.1f}V{:.1f}H{:.1f}\"/>\n", kLeft,
                     kTop, kTop + kHigh, kLeft + kWide);
  std::string line;
  for (const ExitPoint& p : c.curve) line += fmt::format("{}{:.1f} {:.1f}", line.empty() ? "M" : "L", x(p.mean_cost), y(p.value.value()));
  svg += "<path fill=\"none\" stroke=\"currentColor\" stroke-width=\"2\" d=\"" + line + "\"/>\n";
  svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"6\" fill=\"none\" stroke=\"currentColor\" stroke-width=\"2\"/>\n",
                     x(c.chosen.mean_cost), y(c.chosen.value.value()));
  return svg + "</svg>\n";
}

Table exits_table(const ExitCurve& c) {
  Table table("Exits, with the thresholds that ran", {"exit", "threshold", "left there", escape(c.measure) + " of these", "operations",
                                                      escape(c.measure) + " where all answer there"});
  for (size_t e = 0; e < c.exits.size(); ++e) {
    const ExitFigures& exit = c.exits[e];
    table.row({exit.router.empty() ? exit_name(c, e) : "<code>" + escape(exit.router) + "</code>",
               e < c.thresholds.size() ? exit_threshold_text(c.thresholds[e]) : "–", count(exit.items),
               escape(exit_value_text(c, exit.value)), percent(exit.cost), escape(exit_value_text(c, exit.value_of_all))});
  }
  return table;
}

/// Thresholds that were found for a target.
std::string target_part(const ReportData& d) {
  if (!d.figures.exit_target) return {};
  Table table("Thresholds for a target", {"", ""}, 2);
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
  Table curve("Other thresholds, one for all exits", head(c, {"threshold", "mean operations", escape(c.measure), "95 % interval"}));
  for (const ExitPoint& p : c.curve) {
    std::vector<std::string> row = {
        exit_threshold_text(p.threshold), percent(p.mean_cost), escape(exit_value_text(c, p.value)),
        p.value_ci95 ? escape(exit_value_text(c, (*p.value_ci95)[0])) + " to " + escape(exit_value_text(c, (*p.value_ci95)[1])) : "–"};
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
               ? figure(curve_picture(c), "What every threshold would give; the ring is those that ran.",
                        d.measured() + " Exits replayed on the scores of one run in which every item went through the whole network.")
               : paragraph("The data say not what is right: how good the answers are is not known.", "note")) +
          exits_table(c).html() + curve.details() + (classes.empty() ? "" : classes.details()) +
          paragraph("Operations are counted, of the whole network = 100 %; they are no times.", "note"));
}

}  // namespace stormcell::report
