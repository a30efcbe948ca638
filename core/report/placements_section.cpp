#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/counted.h"
#include "core/report/bars.h"
#include "core/report/html.h"
#include "core/report/sections.h"
#include "core/report/ticks.h"
#include "core/summary/step_contents.h"
#include "core/summary/table_times.h"

namespace stormcell::report {
namespace {

/// Limit of shown placements; older ones are in the session.
constexpr size_t kMostPlacements = 6;

/// A figure by which layouts differ.
struct LayoutFigure {
  const char* name;  ///< empty: a step's time, with its unit in front
  std::optional<double> (*of)(const PlacementFigures& figures);
  std::optional<PlacementDifference::Interval> PlacementDifference::*difference;
};
constexpr LayoutFigure kFigures[] = {
    {"imbalance", [](const PlacementFigures& f) { return std::optional(f.imbalance); },
     &PlacementDifference::imbalance},
    {"cross pairs", [](const PlacementFigures& f) { return f.cross_pairs; }, &PlacementDifference::cross_pairs},
    {"GPUs a token", [](const PlacementFigures& f) { return f.ranks_per_token; },
     &PlacementDifference::ranks_per_token},
    {"", [](const PlacementFigures& f) { return f.objective_ms; }, &PlacementDifference::objective_ms}};

std::string name_of(const LayoutFigure& figure, const std::string& unit) {
  return *figure.name ? figure.name : unit + " a step";
}

/// Times of the layouts' steps: they choose the unit, which the advice uses too.
TableTimes times_of(const PlacementOfRun& p) {
  std::vector<double> ms;
  for (const PlacementLayoutLine& line : p.layouts) {
    if (line.fit.objective_ms) ms.push_back(*line.fit.objective_ms);
    if (line.held_out && line.held_out->objective_ms) ms.push_back(*line.held_out->objective_ms);
  }
  return TableTimes(ms);
}

/// The same placement with its step times in microseconds.
PlacementOfRun in_us(PlacementOfRun p) {
  constexpr double kUsOfMs = 1e3;
  for (auto* list : {&p.layouts, &p.front})
    for (PlacementLayoutLine& line : *list) {
      if (line.fit.objective_ms) *line.fit.objective_ms *= kUsOfMs;
      if (line.held_out && line.held_out->objective_ms) *line.held_out->objective_ms *= kUsOfMs;
    }
  for (PlacementDifference& d : p.differences)
    if (auto& of = d.objective_ms) of->value *= kUsOfMs, of->low *= kUsOfMs, of->high *= kUsOfMs;
  return p;
}

Table layouts_table(const std::string& caption, const std::vector<PlacementLayoutLine>& layouts,
                    const std::string& unit) {
  std::vector<std::string> head = {"layout"};
  for (const LayoutFigure& figure : kFigures)
    head.push_back(name_of(figure, unit) + ", fitted"), head.emplace_back("held out");
  Table table(caption, head);
  for (const PlacementLayoutLine& line : layouts) {
    std::vector<std::string> row = {shortened(line.name, 60)};
    for (const LayoutFigure& figure : kFigures)
      row.push_back(number(figure.of(line.fit))),
          row.push_back(line.held_out ? number(figure.of(*line.held_out)) : "–");
    table.row(row);
  }
  return table;
}

const PlacementLayoutLine* find(const std::vector<PlacementLayoutLine>& layouts, LayoutRole role) {
  const auto at = std::find_if(layouts.begin(), layouts.end(),
                               [&](const PlacementLayoutLine& line) { return line.name == to_text(role); });
  return at == layouts.end() ? nullptr : &*at;
}

/// Held-out figures, or the fitted ones if none were held out.
const PlacementFigures& judged(const PlacementLayoutLine& line) { return line.held_out ? *line.held_out : line.fit; }

/// Figures of the layout before beside those of the result. Empty: one of the layouts is missing.
std::string before_and_after(const PlacementOfRun& p, const std::string& unit) {
  const PlacementLayoutLine* from = find(p.layouts, LayoutRole::from);
  const PlacementLayoutLine* before = from ? from : find(p.layouts, LayoutRole::contiguous);
  const PlacementLayoutLine* after = find(p.layouts, LayoutRole::result);
  if (!before || !after || before->held_out.has_value() != after->held_out.has_value()) return {};
  Bars bars;
  bars.label = "The layout before and after, figure by figure; the table below has the numbers";
  for (const LayoutFigure& figure : kFigures) {
    const std::optional<double> was = figure.of(judged(*before)), is = figure.of(judged(*after));
    if (!was || !is) continue;
    const double most = std::max(*was, *is);
    bars.rows.push_back({name_of(figure, unit) + ", before", {*was}, number(*was), most});
    bars.rows.push_back(
        {"after", {0, *is}, number(*is) + (*was > 0 ? " (" + change(*is / *was - 1) + ")" : std::string()), most});
  }
  if (bars.rows.empty()) return {};
  const bool held_out = before->held_out.has_value();
  return figure(draw(bars),
                std::string("Before (") +
                    (from ? "what stood there" : "the contiguous layout that servers begin with") + ") and after, " +
                    (held_out ? "on what was held out: less is better." : "as fitted: nothing was held out.") +
                    " Each figure has a scale of its own.",
                "Counted; times of a step predicted: " + step_contents() + ".");
}

/// Balance against traffic: layouts by name, the front's between them.
std::string front_chart(const PlacementOfRun& p) {
  struct Dot {
    std::string name;
    double x, y;
    bool layout;
  };
  std::vector<Dot> dots;
  for (const auto* list : {&p.front, &p.layouts})
    for (const PlacementLayoutLine& line : *list)
      if (line.fit.cross_pairs && std::isfinite(line.fit.imbalance))
        dots.push_back({line.name, line.fit.imbalance, *line.fit.cross_pairs, list == &p.layouts});
  if (p.front.size() < 2 || dots.size() < 2) return {};
  constexpr double kLeft = 80, kRight = 860, kTop = 20, kBottom = 250;
  double low_x = dots[0].x, high_x = low_x, low_y = dots[0].y, high_y = low_y;
  for (const Dot& d : dots)
    low_x = std::min(low_x, d.x), high_x = std::max(high_x, d.x), low_y = std::min(low_y, d.y),
    high_y = std::max(high_y, d.y);
  const double pad_x = std::max(.08 * (high_x - low_x), 1e-6 * std::max(1., std::abs(high_x))),
               pad_y = std::max(.1 * (high_y - low_y), 1e-6 * std::max(1., std::abs(high_y)));
  low_x = std::max(low_x - pad_x, 0.), high_x += pad_x, low_y -= pad_y, high_y += pad_y;
  const auto x = [&](double v) { return kLeft + (v - low_x) / (high_x - low_x) * (kRight - kLeft); };
  const auto y = [&](double v) { return kBottom - (v - low_y) / (high_y - low_y) * (kBottom - kTop); };
  std::string svg =
      "<svg viewBox=\"0 0 900 300\" width=\"900\" height=\"300\" role=\"img\" aria-label=\"Imbalance against cross "
      "pairs, as fitted; the "
      "tables below have the numbers\">\n";
  for (const double v : ticks(low_x, high_x))
    svg += fmt::format(
        "<line class=\"axis\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/><text class=\"soft mid\" "
        "x=\"{0:.1f}\" "
        "y=\"{3}\">{4:.3g}</text>",
        x(v), kTop, kBottom, kBottom + 16, v);
  for (const double v : ticks(low_y, high_y))
    svg += fmt::format(
        "<line class=\"axis\" x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/><text class=\"soft end\" x=\"{3}\" "
        "y=\"{4:.1f}\">{5:.3g}</text>\n",
        kLeft, kRight, y(v), kLeft - 8, y(v) + 4, v);
  svg += fmt::format(
      "<text class=\"soft mid\" x=\"{}\" y=\"{}\">imbalance</text><text class=\"soft\" x=\"4\" y=\"12\">cross "
      "pairs</text>\n",
      (kLeft + kRight) / 2, kBottom + 36);
  std::string path;
  for (const Dot& d : dots)
    if (!d.layout) path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x(d.x), y(d.y));
  svg += "<path class=\"way\" d=\"" + path + "\"/>\n";
  for (const Dot& d : dots) {
    svg += fmt::format("<circle class=\"{} dot\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\"><title>{}</title></circle>",
                       d.layout ? "second" : "first", x(d.x), y(d.y), shortened(d.name, 60));
    if (!d.layout) continue;
    const bool right = x(d.x) > kRight - 110;
    svg += fmt::format("<text{} x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", right ? " class=\"end\"" : "",
                       x(d.x) + (right ? -10 : 10), y(d.y) - 7, shortened(d.name, 24));
  }
  return figure(svg + "</svg>\n",
                "Less traffic for less balance: of the filled dots none has less of both than another; rings are the "
                "layouts of the table.",
                "As fitted, counted.");
}

std::string differences_table(const PlacementOfRun& p, const std::string& title, const std::string& unit) {
  if (p.differences.empty()) return {};
  std::vector<std::string> head = {"difference"};
  for (const LayoutFigure& figure : kFigures) head.push_back(name_of(figure, unit)), head.emplace_back("95 % interval");
  Table table("Differences on what was held out of " + title + ", over " + escape(p.drawn), head);
  for (const PlacementDifference& d : p.differences) {
    std::vector<std::string> row = {shortened(d.one, 40) + " − " + shortened(d.other, 40)};
    for (const LayoutFigure& figure : kFigures) {
      const auto& of = d.*figure.difference;
      row.push_back(of ? number(of->value) : "–"),
          row.push_back(of ? number(of->low) + " to " + number(of->high) : "–");
    }
    table.row(row);
  }
  return table.html();
}

std::string list_of(const std::vector<std::string>& lines) {
  std::string html;
  for (const std::string& line : lines) html += "<li>" + escape(line) + "</li>\n";
  return html.empty() ? html : "<ul class=\"note\">\n" + html + "</ul>\n";
}

std::vector<std::string> assumptions(const PlacementBasis& b) {
  std::vector<std::string> out;
  if (b.unit.empty()) return out;
  out.push_back("fitted to " + count(b.fitted) + " " + b.unit +
                (b.judged > 0 ? ", judged on " + count(b.judged) + " that were held out" : "") +
                (b.held_out == HeldOutBy::requests ? ", whole requests"
                 : b.held_out == HeldOutBy::time   ? ", the later ones"
                                                   : "") +
                (b.phase.empty() ? "" : "; of " + b.phase + " alone"));
  if (b.backend.empty()) {
    out.emplace_back("steps are not costed: the figures are of loads");
    return out;
  }
  out.push_back("a step's cost is the " + std::string(b.statistic == StepStatistic::p95 ? "95th percentile" : "mean") +
                " over " + b.step_kind + " steps" +
                (b.tokens_per_step > 0 ? " of " + counted(b.tokens_per_step, "token") : "") +
                ": dispatch, slowest GPU's experts and combine of all layers" +
                (b.amortise > 0 ? ", with the move shared over " + counted(b.amortise, "step") : ""));
  out.push_back(
      "tokens reach their experts " + b.backend + "; " +
      (b.replicas.value == ReplicaRule::nearest ? "they go to the nearest replicas" : "replicas share evenly") +
      (b.residence.value == Residence::follow ? "; they go on from where their heaviest expert lies, an experiment"
                                              : ""));
  out.push_back(b.calibration.empty() ? "rates are those of data sheets, without start-up times, queues and overlap"
                                      : "phases that " + b.calibration +
                                            " speaks for take what measured calls take, others the data sheets' rates");
  if (!b.sizes.empty()) out.push_back("sizes of the model: " + b.sizes);
  return out;
}

std::string one_placement(const PlacementOfRun& placement) {
  const TableTimes times = times_of(placement);
  const std::string unit = times.unit();
  const PlacementOfRun p = times.in_us() ? in_us(placement) : placement;
  const std::string title = "#" + std::to_string(p.id) + " " + shortened(p.name, 60);
  std::string html = paragraph("<b>" + title + "</b>, " + escape(p.created) + ": " +
                               (p.solver == kMadeByHand ? "made by hand" : escape("by " + p.solver)) + " for " +
                               shortened(p.cluster, 60) + ", " + counted(p.ranks, "GPU") + " in " +
                               counted(p.nodes, "node") + ", " + counted(p.slot_count, "slot") + " a layer; moves " +
                               counted(p.moved_slots, "slot") + ". Advice: " + escape(p.advice) + ".");
  html += before_and_after(p, unit);
  if (!p.layouts.empty()) html += layouts_table("Layouts of " + title, p.layouts, unit).html();
  html += differences_table(p, title, unit) + front_chart(p);
  if (p.front.size() > 1)
    html += layouts_table("Less traffic for less balance: the front of " + title, p.front, unit).details();
  const std::string basis = list_of(assumptions(p.basis)), warnings = list_of(p.warnings);
  if (!basis.empty()) html += paragraph("Assumed for " + title + ":", "note") + basis;
  if (!warnings.empty()) html += paragraph("To know:", "note") + warnings;
  return html;
}

}  // namespace

std::string placements_section(const ReportData& d) {
  std::string html;
  const size_t shown = std::min(d.placements.size(), kMostPlacements);
  for (size_t i = 0; i < shown; ++i) html += one_placement(d.placements[d.placements.size() - 1 - i]);
  if (html.empty()) return {};
  if (shown < d.placements.size())
    html += paragraph(
        "The newest " + count(static_cast<int64_t>(shown)) + " of " + count(std::ssize(d.placements)) + ".", "note");
  return section(
      "placements", "Placements",
      html +
          paragraph(
              "Imbalance: largest / mean load of a GPU - 1, mean over layers; cross pairs: of a token's experts at "
              "consecutive layers, the share of pairs on two GPUs; GPUs a token: that it goes to at a layer. Counted. "
              "Times of a step: predicted, " +
                  step_contents() + ".",
              "note"));
}

}  // namespace stormcell::report
