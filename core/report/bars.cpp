#include "core/report/bars.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/report/html.h"

namespace stormcell::report {
namespace {

constexpr double kLeft = 210, kWidth = 500, kHigh = 14;
/// Styles of a bar's parts, in their order.
constexpr const char* kFills[] = {"bar2", "bar", "block"};

double sum_of(const BarRow& row) { return std::accumulate(row.parts.begin(), row.parts.end(), 0.); }

}  // namespace

std::string draw(const Bars& bars) {
  double longest = 0;
  for (const BarRow& row : bars.rows) longest = std::max(longest, sum_of(row));
  const double top = bars.keys.empty() ? 4 : 28, line = bars.rows.size() > 30 ? 17 : 24;
  std::string svg =
      fmt::format("<svg viewBox=\"0 0 900 {0}\" width=\"900\" height=\"{0}\" role=\"img\" aria-label=\"{1}\">\n",
                  top + line * static_cast<double>(bars.rows.size()) + 4, escape(bars.label));
  double x = kLeft;
  for (size_t k = 0; k < bars.keys.size(); ++k) {
    svg +=
        fmt::format("<rect class=\"{}\" x=\"{}\" y=\"4\" width=\"12\" height=\"10\"/><text x=\"{}\" y=\"14\">{}</text>",
                    kFills[k % std::size(kFills)], x, x + 18, escape(bars.keys[k]));
    x += 42 + 7 * static_cast<double>(bars.keys[k].size());
  }
  double y = top;
  for (const BarRow& row : bars.rows) {
    const double most = row.most > 0 ? row.most : longest;
    svg +=
        fmt::format("\n<text class=\"end\" x=\"{}\" y=\"{}\">{}</text>", kLeft - 12, y + 11, shortened(row.name, 30));
    double at = kLeft;
    for (size_t p = 0; p < row.parts.size(); ++p) {
      const double wide = most > 0 ? row.parts[p] / most * kWidth : 0;
      if (wide > 0)
        svg += fmt::format("<rect class=\"{}\" x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\"/>",
                           kFills[p % std::size(kFills)], at, y, wide, kHigh);
      at += wide;
    }
    svg += fmt::format("<text class=\"soft\" x=\"{:.1f}\" y=\"{}\">{}</text>", at + 8, y + 11, escape(row.text));
    y += line;
  }
  return svg + "\n</svg>\n";
}

}  // namespace stormcell::report
