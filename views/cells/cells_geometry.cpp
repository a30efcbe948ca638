#include "views/cells/cells_geometry.h"

#include <algorithm>
#include <cmath>

namespace stormcell::views {

int LineLayout::at(QPointF point) const {
  // Rows ascend, and chips within a row: the first chip whose row is not above the point begins the search.
  const auto first =
      std::partition_point(chips.begin(), chips.end(), [&](const QRectF& c) { return c.bottom() < point.y(); });
  for (auto c = first; c != chips.end() && c->top() <= point.y(); ++c)
    if (c->contains(point)) return static_cast<int>(c - chips.begin());
  return -1;
}

int LineLayout::neighbour(int chip, int rows) const {
  if (chip < 0 || chip >= static_cast<int>(chips.size())) return -1;
  const int wanted = row[chip] + rows;
  const double x = chips[chip].center().x();
  int best = -1;
  for (size_t c = 0; c < chips.size(); ++c)
    if (row[c] == wanted && (best < 0 || std::abs(chips[c].center().x() - x) < std::abs(chips[best].center().x() - x)))
      best = static_cast<int>(c);
  return best;
}

LineLayout lay_out(const std::vector<double>& widths, const std::vector<bool>& words, const CellsMetrics& m,
                   bool note_below) {
  LineLayout layout;
  double x = m.gutter, y = 0;
  int row = 0;
  for (size_t i = 0; i < widths.size(); ++i) {
    const double width = std::min(widths[i], m.width - m.gutter);
    const double gap = x == m.gutter ? 0 : words[i] ? m.word_gap : 1;
    if (x > m.gutter && x + gap + width > m.width) {
      x = m.gutter, y += m.pitch(), ++row;
    } else {
      x += gap;
    }
    layout.chips.emplace_back(x, y, width, m.chip);
    layout.row.push_back(row);
    x += width;
  }
  // The gutter holds two lines of words.
  layout.height = std::max(2 * m.line, y + (widths.empty() ? 0 : m.pitch()) + (note_below ? m.line : 0)) + m.block_gap;
  return layout;
}

LineLayout lay_out_grid(const std::vector<double>& widths, const std::vector<QPoint>& places, const CellsMetrics& m,
                        bool note_below) {
  constexpr double kLeast = 3;
  LineLayout layout;
  double width = kLeast;
  int columns = 1, rows = 0;
  for (size_t i = 0; i < places.size(); ++i) {
    width = std::max(width, widths[i]);
    columns = std::max(columns, places[i].x() + 1), rows = std::max(rows, places[i].y() + 1);
  }
  width = std::clamp((m.width - m.gutter - (columns - 1)) / columns, kLeast, width);
  for (const QPoint& place : places) {
    layout.chips.emplace_back(m.gutter + place.x() * (width + 1), place.y() * m.pitch(), width, m.chip);
    layout.row.push_back(place.y());
  }
  layout.height = std::max(2 * m.line, rows * m.pitch() + (note_below ? m.line : 0)) + m.block_gap;
  return layout;
}

LineLayout lay_out_picture(QSizeF picture, QSize grid, const std::vector<QPoint>& places, const CellsMetrics& m) {
  LineLayout layout;
  const QSizeF size = picture.scaled(std::min(m.picture, m.width - m.gutter), m.picture, Qt::KeepAspectRatio);
  layout.picture = {QPointF(m.gutter, m.head), size};
  const double width = size.width() / grid.width(), height = size.height() / grid.height();
  for (const QPoint& place : places) {
    layout.chips.emplace_back(m.gutter + place.x() * width, m.head + place.y() * height, width, height);
    layout.row.push_back(place.y());
  }
  layout.height = m.head +
                  std::max(m.head > 0 ? 0 : 2 * m.line, size.height() + (grid == QSize(1, 1) ? m.stripes : 0)) +
                  m.block_gap;
  return layout;
}

PictureGrid grid_of_pictures(QSizeF room, QSize shape, int64_t count, QSizeF gap, double below) {
  constexpr int kLeastSide = 120, kMostSide = 480;
  const double side = std::max({1, shape.width(), shape.height()});
  const auto across = [&](int times) {
    return std::max(1, static_cast<int>((room.width() + gap.width()) / (times * shape.width() + gap.width())));
  };
  const int least = std::max(1, static_cast<int>(std::ceil(kLeastSide / side)));
  int times = std::max(least, static_cast<int>(kMostSide / side));
  const auto fits = [&] {
    const int64_t rows = (count + across(times) - 1) / across(times);
    return static_cast<double>(rows) * (times * shape.height() + below + gap.height()) - gap.height() <=
               room.height() &&
           times * shape.width() <= room.width();
  };
  while (times > least && !fits()) --times;
  while (times > 1 && times * shape.width() > room.width()) --times;
  return {times * side, across(times)};
}

CellScroll scrolled(CellScroll from, double by, int64_t first, int64_t end,
                    const std::function<double(int64_t)>& height) {
  if (first >= end) return {first, 0};
  from.offset += by;
  while (from.offset < 0 && from.sequence > first) from.offset += height(--from.sequence);
  while (from.sequence + 1 < end) {
    const double here = height(from.sequence);
    if (from.offset < here) break;
    from.offset -= here;
    ++from.sequence;
  }
  // The last sequence may be scrolled until its last row is at the top, no further.
  from.offset = std::max(0.0, from.offset);
  if (from.sequence + 1 == end) from.offset = std::min(from.offset, std::max(0.0, height(from.sequence) - 40));
  return from;
}

double stripe_height(int stripes, double most) { return std::clamp(std::floor(most / std::max(1, stripes)), 1.0, 5.0); }

std::vector<QRectF> legend_boxes(const std::vector<double>& widths, QRectF bounds, double height) {
  std::vector<QRectF> boxes;
  double x = bounds.left(), y = bounds.top();
  for (const double text : widths) {
    const double width = text + 12;
    if (x > bounds.left() && x + width > bounds.right()) x = bounds.left(), y += height + 4;
    if (y + height > bounds.bottom() + 0.5) break;
    boxes.emplace_back(x, y, width, height);
    x += width + 4;
  }
  return boxes;
}

}  // namespace stormcell::views
