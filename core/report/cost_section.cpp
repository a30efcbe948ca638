#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/base/counted.h"
#include "core/base/run_kind.h"
#include "core/report/html.h"
#include "core/report/sections.h"
#include "core/summary/limit_text.h"
#include "core/summary/stated_speedups.h"

namespace stormcell::report {
namespace {

struct Bar {
  std::string name;
  double first = 0, second = -1, bound = -1, bound2 = -1;
  std::string first_text, second_text;
};

// Two bars a row if there are two plans; an outline marks the least that the machine allows.
std::string bars(const std::vector<Bar>& rows, const std::string& label) {
  constexpr double kLeft = 190, kWidth = 530;
  double top = 0;
  bool both = false;
  for (const Bar& b : rows) top = std::max({top, b.first, b.second, b.bound, b.bound2}), both = both || b.second >= 0;
  if (!(top > 0)) top = 1;
  const double row = both ? 42 : 26;
  std::string svg =
      fmt::format("<svg viewBox=\"0 0 900 {0}\" width=\"900\" height=\"{0}\" role=\"img\" aria-label=\"{1}\">\n",
                  row * static_cast<double>(rows.size()) + 26, label);
  svg += fmt::format(
      "<rect class=\"bar2\" x=\"{}\" y=\"2\" width=\"12\" height=\"10\"/><text x=\"{}\" y=\"12\">baseline</text>",
      kLeft, kLeft + 18);
  if (both)
    svg += fmt::format(
        "<rect class=\"bar\" x=\"{}\" y=\"2\" width=\"12\" height=\"10\"/><text x=\"{}\" y=\"12\">optimised</text>",
        kLeft + 90, kLeft + 108);
  double y = 26;
  for (const Bar& b : rows) {
    const auto one = [&](double value, double bound, const char* css, const std::string& text, double at) {
      const double w = value / top * kWidth;
      if (value > 0)
        svg += fmt::format("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{:.1f}\" height=\"13\" rx=\"1.5\"/>", css,
                           kLeft, at, std::max(w, .5));
      if (bound >= 0)
        svg += fmt::format("<path class=\"bound\" d=\"M{:.1f} {}v17\"/>", kLeft + bound / top * kWidth, at - 2);
      svg += fmt::format("<text class=\"soft\" x=\"{:.1f}\" y=\"{}\">{}</text>\n",
                         kLeft + std::max({w, bound / top * kWidth, 0.}) + 8, at + 11, text);
    };
    svg += fmt::format("<text class=\"end\" x=\"{}\" y=\"{}\">{}</text>", kLeft - 12, y + (both ? 19 : 11),
                       shortened(b.name, 26));
    one(b.first, b.bound, "bar2", b.first_text, y);
    if (b.second >= 0) one(b.second, b.bound2, "bar", b.second_text, y + 16);
    y += row;
  }
  return svg + "</svg>\n";
}

std::string time_text(const OperatorTime& o) {
  if (o.in_cache()) return milliseconds(o.milliseconds) + " · " + kInCache;
  if (o.limit_milliseconds > o.milliseconds) return milliseconds(o.milliseconds) + " · faster than the probed ceiling";
  return milliseconds(o.milliseconds) +
         (o.milliseconds > 0 && o.limit_milliseconds > 0
              ? fmt::format(" · {:.0f} % of the limit", 100 * o.limit_milliseconds / o.milliseconds)
              : "");
}

}  // namespace

std::string memory_section(const ReportData& d) {
  const RunSummaryFigures& f = d.figures;
  if (!f.baseline && !f.optimized) return {};
  const PlanFigures& a = f.baseline ? *f.baseline : *f.optimized;
  const bool both = f.baseline && f.optimized;
  Table table("Memory", both ? std::vector<std::string>{"", "baseline", "optimised"}
                             : std::vector<std::string>{"", f.baseline ? "baseline" : "optimised"});
  std::vector<Bar> rows;
  const auto line = [&](const char* name, int64_t PlanFigures::*figure) {
    std::vector<std::string> cells = {name, bytes(a.*figure)};
    Bar bar{name, static_cast<double>(a.*figure)};
    bar.first_text = bytes(a.*figure);
    if (both) {
      const int64_t other = (*f.optimized).*figure;
      bar.second = static_cast<double>(other);
      bar.second_text = bytes(other);
      cells.push_back(bytes(other));
    }
    rows.push_back(bar);
    table.row(cells);
  };
  line(f.weight_budget ? "weights in memory, at most" : "weights in memory", &PlanFigures::peak_weight_bytes);
  line("activations in memory", &PlanFigures::peak_activation_bytes);
  if (a.states || (both && f.optimized->states)) {
    const auto states = [&](const char* name, int64_t StateFigures::*figure) {
      const auto cell = [&](const PlanFigures& p) { return p.states ? bytes((*p.states).*figure) : std::string("–"); };
      std::vector<std::string> cells = {name, cell(a)};
      if (both) cells.push_back(cell(*f.optimized));
      table.row(cells);
    };
    states("of these planned for states of sequences", &StateFigures::planned_bytes);
    states("of these taken at most, by the sequences' own lengths", &StateFigures::taken_bytes);
  }
  std::string body = figure(bars(rows, "Memory of weights and activations; the table below has the numbers"),
                            "Peak of weights as packed and of the activations' arena.", d.measured());
  if (f.unloaded_weight_bytes > 0)
    body += paragraph("The plan needed all but " + bytes(f.unloaded_weight_bytes) +
                      (run_kind(f.verb) == RunKind::optimize ? " of the weights; the baseline beside it loads all."
                                                             : " of the weights: these were never read nor packed."));
  std::string more;
  if (f.model.weight_bytes > 0) more += "The model's weights are " + bytes(f.model.weight_bytes) + " as stored. ";
  if (f.load_seconds > 0) more += "Reading and packing weights took " + milliseconds(1000 * f.load_seconds) + ". ";
  if (f.peak_resident_bytes > 0)
    more += "The whole process held " + bytes(f.peak_resident_bytes) +
            " at most, reference and data included; the buffer that probes the memory (up to 512 MiB) does not count.";
  return section("memory", "Memory", body + paragraph(more, "note") + table.details());
}

std::string operators_section(const ReportData& d) {
  const RunSummaryFigures& f = d.figures;
  if (f.baseline_operators.empty() && f.optimized_operators.empty()) return {};
  struct Pair {
    const OperatorTime *first = nullptr, *second = nullptr;
  };
  std::map<std::string, Pair> all;
  for (const OperatorTime& o : f.baseline_operators) all[o.op].first = &o;
  const bool both = !f.optimized_operators.empty() && (d.trusted() || f.baseline_operators.empty());
  if (both)
    for (const OperatorTime& o : f.optimized_operators) all[o.op].second = &o;
  // Bars beside each other are read as a speed-up.
  const bool beside = both && no_ratio_text(f).empty();
  std::vector<std::pair<std::string, Pair>> ordered(all.begin(), all.end());
  const auto most = [](const Pair& p) {
    return std::max(p.first ? p.first->milliseconds : 0, p.second ? p.second->milliseconds : 0);
  };
  std::stable_sort(ordered.begin(), ordered.end(),
                   [&](const auto& a, const auto& b) { return most(a.second) > most(b.second); });
  Table table("Time by operator, a batch",
              {"operator", "plan", "steps a batch", "time", "least time possible", "share of the limit"}, 2);
  std::vector<Bar> rows;
  const auto line = [&](const char* plan, const OperatorTime* o) {
    if (o)
      table.row({"<code>" + escape(o->op) + "</code>", plan,
                 o->batches > 0 ? number(static_cast<double>(o->steps) / o->batches) : "–",
                 milliseconds(o->milliseconds), o->in_cache() ? kInCache : milliseconds(o->limit_milliseconds),
                 // More than the ceiling allows: the probe met a busy machine.
                 o->in_cache() || o->limit_milliseconds > o->milliseconds ? "–"
                 : o->milliseconds > 0 ? percent(o->limit_milliseconds / o->milliseconds)
                                       : "–"});
  };
  for (const auto& [op, p] : ordered) {
    line("baseline", p.first);
    line("optimised", p.second);
    if (rows.size() >= 14) continue;
    if (!beside && both && !p.first) continue;
    Bar bar{op, p.first ? p.first->milliseconds : 0};
    bar.first_text = p.first ? time_text(*p.first) : "not in this plan";
    if (p.first) bar.bound = p.first->limit_milliseconds;
    if (beside) {
      bar.second = p.second ? p.second->milliseconds : 0;
      bar.second_text = p.second ? time_text(*p.second) : "not in this plan";
      if (p.second) bar.bound2 = p.second->limit_milliseconds;
    }
    rows.push_back(bar);
  }
  std::string body = figure(
      bars(rows, "Time by operator; the table below has the numbers"),
      std::string("Time of a batch by operator") +
          (both && !beside ? ", of the baseline. The table has both plans; their times have " + no_ratio_text(f) : "") +
          ". The mark on a bar is the least time that the machine allows.",
      d.measured() + " Mean over " +
          counted((f.baseline_operators.empty() ? f.optimized_operators : f.baseline_operators).front().batches,
                  "recorded batch") +
          ", from step events. Least time = max(bytes ÷ read bandwidth, FLOP ÷ peak), both ceilings "
          "probed before, during and after measuring, the largest taken. In cache: faster than memory could be read.");
  return section("operators", "Time by operator", body + table.details());
}

}  // namespace stormcell::report
