#include "core/report/heatmap.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/report/html.h"
#include "core/report/palette.h"

namespace stormcell::report {
namespace {

constexpr double kMapWidth = 900, kNames = 210;

std::string value_text(const Heatmap& map, double v) {
  return map.shares ? fmt::format("{:.0f}%", 100 * v) : number(v, v < 1 ? 1 : 2);
}

std::string legend(const Heatmap& map, double top, double y) {
  constexpr double kStep = 30;
  std::string svg = fmt::format(
      "<rect class=\"zero\" x=\"{}\" y=\"{}\" width=\"16\" height=\"10\"/><text class=\"soft\" x=\"{}\" "
      "y=\"{}\">none</text>",
      kNames, y, kNames + 21, y + 9);
  const double x = kNames + 66;
  for (int i = 0; i < kScaleSteps; ++i)
    svg +=
        fmt::format("<rect class=\"q{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"10\"/>", i, x + i * kStep, y, kStep);
  svg +=
      fmt::format("<text class=\"soft\" x=\"{}\" y=\"{}\">0</text><text class=\"soft mid\" x=\"{}\" y=\"{}\">{}</text>",
                  x, y + 23, x + kScaleSteps * kStep / 2, y + 23, map.shares ? percent(top / 2) : number(top / 2, 2));
  svg += fmt::format(
      "<text class=\"soft end\" x=\"{}\" y=\"{}\">{}</text><text class=\"soft\" x=\"{}\" y=\"{}\">{}</text>\n",
      x + kScaleSteps * kStep, y + 23, map.shares ? percent(top) : number(top, 2), x + kScaleSteps * kStep + 12, y + 9,
      escape(map.unit));
  if (!map.gaps.empty())
    svg += fmt::format(
        "<rect class=\"gap\" x=\"0\" y=\"{}\" width=\"16\" height=\"10\"/><text class=\"soft\" x=\"21\" "
        "y=\"{}\">{}</text>\n",
        y, y + 9, escape(map.gaps));
  return svg;
}

}  // namespace

int64_t grouping(int64_t columns, int64_t most) { return std::max<int64_t>(1, (columns + most - 1) / most); }
std::vector<int64_t> grouped(const std::vector<int64_t>& values, int64_t each) {
  std::vector<int64_t> sums((values.size() + static_cast<size_t>(each) - 1) / static_cast<size_t>(each));
  for (size_t i = 0; i < values.size(); ++i) sums[i / static_cast<size_t>(each)] += values[i];
  return sums;
}

std::string draw(const Heatmap& map) {
  size_t columns = 1;
  double top = map.top;
  for (const auto& row : map.values) {
    columns = std::max(columns, row.size());
    if (map.top <= 0)
      for (const double v : row) top = std::max(top, v);
  }
  if (!(top > 0)) top = 1;
  const double width = std::min((kMapWidth - kNames) / static_cast<double>(columns), 64.0);
  const double height = map.rows.size() > 30 ? 14 : columns > 32 ? 18 : 26, gap = width > 12 ? 2 : 0;
  const double bottom = 18 + static_cast<double>(map.rows.size()) * height;
  const double mark = map.mark.empty() ? 0 : 20, whole = bottom + 44 + mark;
  const bool texts = columns <= 16 && height > 20 && width > 30;
  std::string svg =
      fmt::format("<svg viewBox=\"0 0 {} {}\" width=\"{}\" height=\"{}\" role=\"img\" aria-label=\"{}\">\n", kMapWidth,
                  whole, kMapWidth, whole, escape(map.label));
  const size_t every = std::max<size_t>(1, static_cast<size_t>(std::ceil(26 / width)));
  for (size_t c = 0; c < columns; c += every)
    svg += fmt::format("<text class=\"soft mid\" x=\"{:.1f}\" y=\"11\">{}</text>",
                       kNames + (static_cast<double>(c) + .5) * width, static_cast<int64_t>(c) * map.columns_each);
  svg += fmt::format("<text class=\"soft end\" x=\"{}\" y=\"11\">{}</text>\n", kNames - 10, escape(map.columns));
  std::array<std::string, kScaleSteps> paths, grey_paths;
  std::string zeros, numbers, gaps;
  for (size_t r = 0; r < map.values.size(); ++r) {
    const double y = 18 + static_cast<double>(r) * height;
    const bool grey = r < map.grey.size() && map.grey[r];
    svg += fmt::format("<text class=\"end\" x=\"{}\" y=\"{:.1f}\">{}</text>", kNames - 10, y + height / 2 + 4,
                       shortened(map.rows[r], 31));
    for (size_t c = 0; c < map.values[r].size(); ++c) {
      const double v = map.values[r][c], x = kNames + static_cast<double>(c) * width;
      const std::string box =
          fmt::format("M{:.1f} {:.1f}h{:.1f}v{:.1f}h{:.1f}z", x, y, width - gap, height - 2, gap - width);
      if (v < 0) {
        gaps += box;
        continue;
      }
      if (v == 0) {
        zeros += box;
        continue;
      }
      const int32_t step = step_of(v, top);
      (grey ? grey_paths : paths)[step] += box;
      if (texts)
        numbers += fmt::format("<text class=\"mid on{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", step,
                               x + (width - gap) / 2, y + height / 2 + 3, value_text(map, v));
    }
  }
  if (!gaps.empty() && !map.gaps.empty()) svg += "<path class=\"gap\" d=\"" + gaps + "\"/>\n";
  if (!zeros.empty()) svg += "<path class=\"zero\" d=\"" + zeros + "\"/>\n";
  for (int i = 0; i < kScaleSteps; ++i)
    if (!paths[i].empty()) svg += fmt::format("<path class=\"q{}\" d=\"{}\"/>\n", i, paths[i]);
  if (std::any_of(grey_paths.begin(), grey_paths.end(), [](const std::string& path) { return !path.empty(); })) {
    svg += "<g class=\"grey\">";
    for (int i = 0; i < kScaleSteps; ++i)
      if (!grey_paths[i].empty()) svg += fmt::format("<path class=\"q{}\" d=\"{}\"/>", i, grey_paths[i]);
    svg += "</g>\n";
  }
  if (!map.mark.empty())
    numbers += fmt::format("<text class=\"mark\" x=\"{}\" y=\"{}\">{}</text>", kNames, whole - 6, escape(map.mark));
  return svg + numbers + "\n" + legend(map, top, bottom + 12) + "</svg>\n";
}

}  // namespace stormcell::report
