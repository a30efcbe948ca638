// Layout of the comparison's lines and columns. Pure functions of sizes.
#pragma once
#include <QRectF>

namespace stormcell::views {

class CompareGeometry {
 public:
  /// `head`: lines of text above the columns' titles.
  CompareGeometry(QSizeF size, double unit, int head, int lines, double scrolled);
  QRectF head() const { return {margin(), 0.5 * unit_, size_.width() - 2 * margin(), 1.5 * unit_ * head_}; }
  QRectF titles() const { return {0, head().bottom() + 0.3 * unit_, size_.width(), 1.8 * unit_}; }
  /// The room of the lines.
  QRectF body() const;
  QRectF line(int index) const;
  /// -1: none.
  int at(QPointF point) const;
  int first() const;
  int end() const;
  /// Lines are further apart if few of them would leave the room empty.
  double line_height() const;
  /// The largest distance that lines can be scrolled.
  double most_scrolled() const;
  double unit() const { return unit_; }

  enum Column { name, a, b, difference, bar, meaning };
  /// The column's part of a line.
  QRectF column(Column which, const QRectF& line) const;

 private:
  double margin() const { return 1.2 * unit_; }
  QSizeF size_;
  double unit_;
  int head_, lines_;
  double scrolled_;
};

}  // namespace stormcell::views
