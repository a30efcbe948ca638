#include "views/patterns/patterns_geometry.h"

#include <algorithm>

namespace stormcell::views {
namespace {

constexpr double kEdge = 12, kMostOfRowNames = 0.3;

}  // namespace

PatternGeometry::PatternGeometry(const PatternShape& s) : shape(s) {
  const double width = std::max(120.0, s.size.width() - 2 * kEdge);
  const double names = std::min(s.names + 8, width * kMostOfRowNames);
  title = {kEdge, kEdge / 2, width, s.line + 6};
  const double below = 2 * s.line + 30;
  const double high = std::max(30.0, s.size.height() - title.bottom() - below - kEdge);
  plot = {kEdge + names, title.bottom() + 4, width - names, high};
  axis = {plot.left(), plot.bottom() + 3, plot.width(), s.line + 2};
  scale = {plot.left(), axis.bottom() + 6, plot.width(), 8};
}

QRectF PatternGeometry::square(PatternSpot spot) const {
  const double wide = plot.width() / std::max(1, shape.columns), high = plot.height() / std::max(1, shape.rows);
  return {plot.left() + spot.column * wide, plot.top() + spot.row * high, wide, high};
}

double PatternGeometry::x_of(int column) const {
  return plot.left() + (column + 0.5) * plot.width() / std::max(1, shape.columns);
}

std::optional<PatternSpot> PatternGeometry::spot_at(QPointF point) const {
  if (!plot.contains(point) || shape.columns == 0) return {};
  const auto column = static_cast<int>((point.x() - plot.left()) / plot.width() * shape.columns);
  const auto row = shape.rows == 0 ? 0 : static_cast<int>((point.y() - plot.top()) / plot.height() * shape.rows);
  return PatternSpot{std::clamp(row, 0, std::max(0, shape.rows - 1)), std::clamp(column, 0, shape.columns - 1)};
}

}  // namespace stormcell::views
