#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/counted.h"
#include "core/base/pass_names.h"
#include "core/report/html.h"
#include "core/report/sections.h"
#include "core/report/ticks.h"
#include "core/summary/stated_speedups.h"

namespace stormcell::report {
namespace {

/// Narrow enough for a telephone, where its text is as large as that around it.
constexpr double kPassWidth = 358, kLeft = 140, kRight = 346, kRow = 44, kTop = 34;

struct Axis {
  double low = 1, high = 1;
  void take(double v) {
    if (std::isfinite(v)) low = std::min(low, v), high = std::max(high, v);
  }
  double x(double v) const { return kLeft + (v - low) / (high - low) * (kRight - kLeft); }
};

Axis axis_of(const std::vector<PassReport>& passes) {
  Axis axis;
  for (const PassReport& p : passes) {
    for (const auto& v : {p.speedup_alone, p.speedup_cumulative})
      if (v) axis.take(*v);
    for (const auto& ci : {p.speedup_alone_ci95, p.speedup_cumulative_ci95})
      if (ci) axis.take((*ci)[0]), axis.take((*ci)[1]);
  }
  const double margin = std::max(.03, (axis.high - axis.low) * .06);
  axis.low -= margin, axis.high += margin;
  return axis;
}

std::string mark(const Axis& axis, double value, const std::optional<std::array<double, 2>>& ci, double y,
                 bool cumulative) {
  const char* css = cumulative ? "first" : "second";
  std::string svg;
  if (ci)
    svg += fmt::format("<line class=\"{} whisker\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{}\" y2=\"{}\"/>", css,
                       axis.x((*ci)[0]), axis.x((*ci)[1]), y, y);
  return svg + fmt::format("<circle class=\"{} dot\" cx=\"{:.1f}\" cy=\"{}\" r=\"5\"/>", css, axis.x(value), y);
}

std::string key() {
  return "<g aria-hidden=\"true\"><line class=\"second whisker\" x1=\"6\" x2=\"30\" y1=\"10\" y2=\"10\"/><circle "
         "class=\"second dot\" "
         "cx=\"18\" cy=\"10\" r=\"5\"/>"
         "<text x=\"38\" y=\"14\">alone</text><line class=\"first whisker\" x1=\"96\" x2=\"120\" y1=\"10\" y2=\"10\"/>"
         "<circle class=\"first dot\" cx=\"108\" cy=\"10\" r=\"5\"/><text x=\"128\" y=\"14\">with all passes above "
         "it</text></g>\n";
}

std::string chart(const std::vector<PassReport>& passes) {
  const Axis axis = axis_of(passes);
  const double bottom = kTop + kRow * static_cast<double>(passes.size());
  std::string svg = fmt::format(
      "<svg viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\" aria-label=\"Speed-up by pass with 95 % "
      "intervals; the table "
      "below has "
      "every number\">\n",
      kPassWidth, bottom + 40);
  svg += key();
  const double step = tick_step(axis.high - axis.low);
  const std::vector<double> places = ticks(axis.low, axis.high);
  const size_t every = places.size() > 5 ? 2 : 1;  // their numbers would touch
  for (size_t i = 0; i < places.size(); i += every) {
    const double v = places[i];
    svg += fmt::format(
        "<line class=\"axis\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/><text class=\"soft mid\" "
        "x=\"{0:.1f}\" "
        "y=\"{3}\">{4}</text>",
        axis.x(v), kTop, bottom, bottom + 16, fmt::format("{:.{}f}", v, step < .1 ? 2 : 1));
  }
  svg += fmt::format(
      "<line class=\"one\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/><text class=\"soft end\" x=\"{3}\" "
      "y=\"{4}\">1 = the "
      "baseline; faster to the right</text>\n",
      axis.x(1), kTop, bottom, kRight, bottom + 34);
  for (size_t i = 0; i < passes.size(); ++i) {
    const PassReport& p = passes[i];
    const double y = kTop + kRow * (static_cast<double>(i) + .5);
    svg += fmt::format("<text class=\"end\" x=\"{}\" y=\"{}\">{}</text>", kLeft - 10, y + 4,
                       shortened(pass_name(p.name), 20));
    if (p.left_out) svg += fmt::format("<text class=\"soft end\" x=\"{:.1f}\" y=\"{}\">left out</text>", kRight, y + 4);
    if ((p.applied || p.left_out) && p.speedup_alone)
      svg += mark(axis, *p.speedup_alone, p.speedup_alone_ci95, y - 9, false);
    if (p.applied && p.speedup_cumulative)
      svg += mark(axis, *p.speedup_cumulative, p.speedup_cumulative_ci95, y + 9, true);
    svg += "\n";
  }
  return svg + "</svg>\n";
}

/// A speed-up, or the reason why there is none.
std::string gain_text(const PassReport& p, const std::optional<double>& value) {
  return !value && p.withheld ? kNotMeasured : times(value);
}

std::string state_of(const PassReport& p) { return p.applied ? "applied" : p.left_out ? "left out" : "not applied"; }

}  // namespace

std::string passes_section(const ReportData& d) {
  const auto& passes = d.figures.passes;
  if (passes.empty()) return {};
  Table table("Passes in the order in which they were applied",
              {"pass", "", "why", "alone", "95 % interval", "its own", "95 % interval", "with those above",
               "95 % interval", "guard misses"},
              3);
  for (const PassReport& p : passes) {
    std::vector<std::string> row = {escape(pass_name(p.name)), state_of(p), escape(p.reason)};
    if (d.trusted())
      row.insert(row.end(), {gain_text(p, p.speedup_alone), interval(p.speedup_alone_ci95), gain_text(p, p.speedup_own),
                             interval(p.speedup_own_ci95), gain_text(p, p.speedup_cumulative),
                             interval(p.speedup_cumulative_ci95)});
    else
      row.insert(row.end(), 6, "not verified");
    row.push_back(p.guard_hits + p.fallbacks > 0 ? count(p.fallbacks) + " of " + count(p.guard_hits + p.fallbacks)
                                                 : "–");
    table.row(row);
  }
  if (!d.trusted())
    return section(
        "passes", "Speed-up by pass",
        paragraph("The run was not verified, so no measured speed-up of a pass is shown.", "note") + table.details());
  std::vector<PassReport> shown;
  std::string reasons, others;
  int64_t not_applied = 0;
  for (const PassReport& p : passes) {
    const bool tried = p.applied || p.left_out;
    if (tried) shown.push_back(p);
    not_applied += !tried;
    (tried ? reasons : others) += "<li><strong>" + escape(pass_name(p.name)) + "</strong> " +
                                  (p.left_out ? "" : state_of(p) + ": ") + escape(p.reason) + "</li>\n";
  }
  std::string body;
  const std::optional<SpeedupWithheld> withheld = first_withheld(d.figures);
  if (withheld) body += paragraph("The speed-up of passes was " + escape(not_measured_text(*withheld)) + ".", "note");
  const bool any = std::any_of(shown.begin(), shown.end(),
                               [](const PassReport& p) { return p.speedup_alone || p.speedup_cumulative; });
  if (!any && withheld) {
    body += shown.empty() ? "" : "<ul>" + reasons + "</ul>\n";
  } else if (!shown.empty()) {
    body +=
        figure(chart(shown), "Each pass alone, and with all passes above it. A line is the 95 % interval.",
               d.measured() +
                   " Of the time of all batches, each plan run beside the baseline. Its own, in the table: the plan "
                   "with the pass and those above it against the plan without it.") +
        "<ul>" + reasons + "</ul>\n";
  }
  if (not_applied > 0)
    body += "<details><summary>" + counted(not_applied, "pass", "passes") + " not applied, and why</summary>\n<ul>" +
            others + "</ul></details>\n";
  return section("passes", "Speed-up by pass", body + table.details());
}

}  // namespace stormcell::report
