#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/report/html.h"
#include "core/report/palette.h"
#include "core/report/sections.h"

namespace stormcell::report {
namespace {

constexpr size_t kMostFlows = 20, kMostPairs = 24;
constexpr double kHeight = 220, kLeft = 120, kRight = 560, kGap = 6, kBlock = 10;

struct Side {
  std::map<int32_t, int64_t> total;
  std::map<int32_t, double> y;
  double scale = 0;
};

void place(Side& side, int64_t all) {
  side.scale = (kHeight - kGap * static_cast<double>(side.total.size() - 1)) / static_cast<double>(all);
  double y = 22;
  for (const auto& [branch, cells] : side.total) {
    side.y[branch] = y;
    y += static_cast<double>(cells) * side.scale + kGap;
  }
}

std::string blocks(const Side& side, double x, bool left) {
  std::string svg;
  for (const auto& [branch, cells] : side.total) {
    const double h = static_cast<double>(cells) * side.scale, y = side.y.at(branch);
    svg += fmt::format(
        "<rect class=\"block{}\" x=\"{}\" y=\"{:.1f}\" width=\"{}\" height=\"{:.1f}\"/><text class=\"{}\" x=\"{}\" "
        "y=\"{:.1f}\">branch "
        "{}</text>",
        left ? fmt::format(" c{}", colour_of(branch)) : std::string(), x, y, kBlock, std::max(h, 1.),
        left ? "end" : "begin", left ? x - 8 : x + kBlock + 8, y + h / 2 + 4, branch);
  }
  return svg;
}

std::string chart(const Flows& flows, const std::vector<PairCount>& top) {
  Side from, to;
  int64_t all = 0;
  for (const PairCount& e : top) from.total[e.from] += e.count, to.total[e.to] += e.count, all += e.count;
  place(from, all);
  place(to, all);
  std::string svg = fmt::format(
      "<svg viewBox=\"0 0 680 {0}\" width=\"680\" height=\"{0}\" role=\"img\" aria-label=\"Flows of cells from {1} to "
      "{2}; the table below "
      "has the "
      "numbers\">\n",
      kHeight + 30, escape(flows.from), escape(flows.to));
  auto from_y = from.y, to_y = to.y;
  std::vector<PairCount> ordered = top;
  std::sort(ordered.begin(), ordered.end(),
            [](const PairCount& a, const PairCount& b) { return std::pair(a.from, a.to) < std::pair(b.from, b.to); });
  const double x0 = kLeft + kBlock, x1 = kRight, mid = (x0 + x1) / 2;
  for (const PairCount& e : ordered) {
    const double h0 = static_cast<double>(e.count) * from.scale, h1 = static_cast<double>(e.count) * to.scale,
                 a = from_y[e.from], b = to_y[e.to];
    svg += fmt::format(
        "<path class=\"flow c{7}\" d=\"M{0} {2:.1f}C{4} {2:.1f} {4} {3:.1f} {1} {3:.1f}V{5:.1f}C{4} {5:.1f} {4} "
        "{6:.1f} {0} {6:.1f}z\"/>\n",
        x0, x1, a, b, mid, b + h1, a + h0, colour_of(e.from));
    from_y[e.from] += h0;
    to_y[e.to] += h1;
  }
  return svg + blocks(from, kLeft, true) + blocks(to, kRight, false) + "</svg>\n";
}

}  // namespace

std::string transitions_section(const ReportData& d) {
  if (d.flows.empty()) return {};
  std::string body = paragraph(
      "How many cells of one branch went on to which branch of the routers that they met next; padding left out.");
  for (size_t i = 0; i < d.flows.size() && i < kMostPairs; ++i) {
    const Flows& f = d.flows[i];
    std::vector<PairCount> top = f.pairs.entries;
    std::stable_sort(top.begin(), top.end(), [](const PairCount& a, const PairCount& b) { return a.count > b.count; });
    if (top.size() > kMostFlows) top.resize(kMostFlows);
    const double all = f.pairs.total();
    int64_t shown = 0;
    Table table("Flows from " + escape(f.from) + " to " + escape(f.to), {"from branch", "to branch", "cells", "share"});
    for (const PairCount& e : top) {
      shown += e.count;
      table.row(
          {std::to_string(e.from), std::to_string(e.to), count(e.count), percent(static_cast<double>(e.count) / all)});
    }
    if (shown <= 0) continue;
    const std::string caption = fmt::format("{} of {} flows, {} of {} cells.", top.size(), f.pairs.entries.size(),
                                            percent(static_cast<double>(shown) / all), count(f.pairs.total()));
    body += "<h3><code>" + escape(f.from) + "</code> → <code>" + escape(f.to) + "</code></h3>\n" +
            figure(chart(f, top), caption, d.measured()) + table.details();
  }
  if (d.flows.size() > kMostPairs)
    body += paragraph(fmt::format("The first {} of {} pairs of routers are shown; <code>export --format csv --what "
                                  "transitions</code> has all.",
                                  kMostPairs, d.flows.size()),
                      "note");
  return section("transitions", "From router to router", body);
}

}  // namespace stormcell::report
