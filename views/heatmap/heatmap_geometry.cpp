#include "views/heatmap/heatmap_geometry.h"

#include <algorithm>
#include <cmath>

namespace stormcell::views {

HeatGeometry::HeatGeometry(int rows, int columns, QRectF area, const HeatWindow& window)
    : rows_(std::max(1, rows)), columns_(std::max(1, columns)), area_(area), window_(kept(window)) {}

QRectF HeatGeometry::cell(int row, int column) const {
  return {area_.left() + (column - window_.left) * cell_width(), area_.top() + (row - window_.top) * cell_height(),
          cell_width(), cell_height()};
}

std::optional<HeatCell> HeatGeometry::at(QPointF p) const {
  if (!area_.contains(p)) return {};
  const HeatCell cell{static_cast<int>(std::floor(window_.top + (p.y() - area_.top()) / cell_height())),
                      static_cast<int>(std::floor(window_.left + (p.x() - area_.left()) / cell_width()))};
  if (cell.row < 0 || cell.row >= rows_ || cell.column < 0 || cell.column >= columns_) return {};
  return cell;
}

int HeatGeometry::first_row() const { return std::max(0, static_cast<int>(std::floor(window_.top))); }
int HeatGeometry::end_row() const { return std::min(rows_, static_cast<int>(std::ceil(window_.top + window_.height))); }
int HeatGeometry::first_column() const { return std::max(0, static_cast<int>(std::floor(window_.left))); }
int HeatGeometry::end_column() const {
  return std::min(columns_, static_cast<int>(std::ceil(window_.left + window_.width)));
}

HeatWindow HeatGeometry::kept(HeatWindow w) const {
  w.width = std::clamp(w.width, std::min(2.0, static_cast<double>(columns_)), static_cast<double>(columns_));
  w.height = std::clamp(w.height, std::min(2.0, static_cast<double>(rows_)), static_cast<double>(rows_));
  w.left = std::clamp(w.left, 0.0, columns_ - w.width);
  w.top = std::clamp(w.top, 0.0, rows_ - w.height);
  return w;
}

HeatWindow HeatGeometry::zoomed(QPointF point, double factor) const {
  const double fx = std::clamp((point.x() - area_.left()) / area_.width(), 0.0, 1.0),
               fy = std::clamp((point.y() - area_.top()) / area_.height(), 0.0, 1.0);
  HeatWindow w{0, 0, window_.width / factor, window_.height / factor};
  w = kept(w);
  w.left = window_.left + fx * (window_.width - w.width);
  w.top = window_.top + fy * (window_.height - w.height);
  return kept(w);
}

HeatWindow HeatGeometry::moved(QPointF by) const {
  HeatWindow w = window_;
  w.left -= by.x() / cell_width();
  w.top -= by.y() / cell_height();
  return kept(w);
}

QRectF heat_area(QRectF bounds, double label_width, double header_height, int rows, BelowMap below) {
  // Few rows take their share of the room, many are as tall as their text and mark need.
  constexpr double kEnough = 44, kTallest = 96, kShare = 0.45;
  QRectF area = bounds.adjusted(label_width, header_height, 0, 0);
  const int count = std::max(1, rows);
  const double row = std::clamp(kShare * area.height() / count, kEnough, kTallest);
  if (below != BelowMap::nothing) area.setHeight(std::min(area.height(), row * count));
  area.setHeight(std::max(1.0, area.height()));
  area.setWidth(std::max(1.0, area.width()));
  return area;
}

std::vector<QRectF> time_panels(QRectF bounds, const std::vector<int>& branches) {
  constexpr double kRow = 24, kTallestRow = 48, kText = 40, kLeast = 110, kGap = 10;
  const auto wanted = [&](size_t panel, double row) { return row * branches[panel] + kText; };
  size_t count = 0;
  for (double needed = 0; count < branches.size(); ++count) {
    needed += std::min(wanted(count, kRow), kLeast) + (count > 0 ? kGap : 0);
    if (needed > bounds.height()) break;
  }
  // The panels that have room share it.
  std::vector<QRectF> panels;
  double top = bounds.top();
  for (size_t i = 0; i < count; ++i) {
    const auto left = static_cast<double>(count - i);
    const double room = (bounds.bottom() - top - kGap * (left - 1)) / left;
    const double height = std::min(wanted(i, kTallestRow), std::max(room, kLeast));
    if (top + height > bounds.bottom() + 0.5) break;
    panels.emplace_back(bounds.left(), top, bounds.width(), height);
    top += height + kGap;
  }
  return panels;
}

}  // namespace stormcell::views
