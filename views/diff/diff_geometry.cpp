#include "views/diff/diff_geometry.h"

#include <algorithm>
#include <cmath>

#include "views/drawing/margin.h"

namespace stormcell::views {
namespace {

constexpr double kDiffGap = 16;
/// Parts of the width and of the height: the map has the larger ones.
constexpr double kLeftPart = 0.62, kMapPart = 0.62;
constexpr double kMostOfNames = 0.3;

}  // namespace

DiffGeometry::DiffGeometry(const DiffShape& s) : shape(s) {
  const double width = std::max(200.0, s.size.width() - 2 * kMargin);
  verdict = {kMargin, kMargin / 2, width, s.words * (s.line + 2)};
  const double top = verdict.bottom() + kDiffGap / 2, height = std::max(120.0, s.size.height() - top - kMargin);
  const double left = width * kLeftPart - kDiffGap / 2, right = width - left - kDiffGap;

  // The map with its title, the positions below it, and the scale.
  const double names = std::min(s.names + 8, left * kMostOfNames), map_height = height * kMapPart;
  map_title = {kMargin, top, left, s.line + 4};
  const double below = 2 * s.line + 26;
  map = {kMargin + names, map_title.bottom(), left - names, std::max(20.0, map_height - s.line - 4 - below)};
  axis = {map.left(), map.bottom() + 2, map.width(), s.line};
  scale = {map.left(), axis.bottom() + 6, std::min(map.width(), 360.0), 8};
  list = {kMargin, top + map_height + kDiffGap / 2, left, std::max(40.0, height - map_height - kDiffGap / 2)};

  const double x = kMargin + left + kDiffGap, each = (height - 2 * kDiffGap / 2) / 3;
  margins = {x, top, right, each};
  experts = {x, margins.bottom() + kDiffGap / 2, right, each};
  sequences = {x, experts.bottom() + kDiffGap / 2, right, each};
}

QRectF DiffGeometry::square(DiffPlace place) const {
  const double wide = map.width() / std::max(1, shape.groups), high = map.height() / std::max(1, shape.layers);
  return {map.left() + place.group * wide, map.top() + place.layer * high, wide, high};
}

std::optional<DiffPlace> DiffGeometry::place_at(QPointF point) const {
  if (!map.contains(point) || shape.layers == 0 || shape.groups == 0) return {};
  const auto layer = static_cast<int>((point.y() - map.top()) / map.height() * shape.layers),
             group = static_cast<int>((point.x() - map.left()) / map.width() * shape.groups);
  return DiffPlace{std::min(layer, shape.layers - 1), std::min(group, shape.groups - 1)};
}

int DiffGeometry::list_lines() const {
  return std::max(0, static_cast<int>(std::floor(list.height() / (shape.line + 3))) - 2);
}

QRectF DiffGeometry::list_line(int line) const {
  const double high = shape.line + 3;
  return {list.left(), list.top() + (line + 2) * high, list.width(), high};
}

int DiffGeometry::list_line_at(QPointF point) const {
  for (int line = 0; line < list_lines(); ++line)
    if (list_line(line).contains(point)) return line;
  return -1;
}

}  // namespace stormcell::views
