#include "views/compare/compare_geometry.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace stormcell::views {

CompareGeometry::CompareGeometry(QSizeF size, double unit, int head, int lines, double scrolled)
    : size_(size), unit_(unit), head_(head), lines_(lines), scrolled_(0) {
  scrolled_ = std::clamp(scrolled, 0.0, most_scrolled());
}

QRectF CompareGeometry::body() const {
  const double top = titles().bottom() + 0.2 * unit_;
  return {0, top, size_.width(), std::max(0.0, size_.height() - top)};
}

double CompareGeometry::line_height() const {
  constexpr double kFilled = 0.8, kLeast = 1.9, kMost = 2.8;
  return std::clamp(kFilled * body().height() / std::max(1, lines_), kLeast * unit_, kMost * unit_);
}

double CompareGeometry::most_scrolled() const {
  return std::max(0.0, lines_ * line_height() + 0.5 * unit_ - body().height());
}

QRectF CompareGeometry::line(int index) const {
  return {0, body().top() + index * line_height() - scrolled_, size_.width(), line_height()};
}

int CompareGeometry::at(QPointF point) const {
  if (!body().contains(point)) return -1;
  const int index = static_cast<int>(std::floor((point.y() - body().top() + scrolled_) / line_height()));
  return index >= 0 && index < lines_ ? index : -1;
}

int CompareGeometry::first() const { return std::clamp(static_cast<int>(scrolled_ / line_height()), 0, lines_); }
int CompareGeometry::end() const {
  return std::clamp(static_cast<int>(std::ceil((scrolled_ + body().height()) / line_height())), 0, lines_);
}

QRectF CompareGeometry::column(Column which, const QRectF& line) const {
  static constexpr std::array<double, 6> shares = {0.29, 0.12, 0.12, 0.11, 0.18, 0.18};
  const double width = line.width() - 2 * margin();
  double left = line.left() + margin();
  for (int c = 0; c < which; ++c) left += shares[c] * width;
  return {left, line.top(), shares[which] * width, line.height()};
}

}  // namespace stormcell::views
