// Layout of the overview's page: two columns of cards, or one if the page is narrow. Pure functions of sizes.
#pragma once
#include <QRectF>
#include <functional>

namespace stormcell::views {

struct OverviewContent {
  double unit = 15;  ///< height of a line of text; everything scales with it
  int figures = 0, chart_rows = 0, notes = 0;
  bool interval = false, waterfall = false;
  double proof_lines = 3;
  double room = 0;                             ///< visible height, in pixels; 0: not known
  std::function<double(double)> steps_height;  ///< in pixels, for a width
};

class OverviewGeometry {
 public:
  OverviewGeometry(double width, const OverviewContent& content);
  /// Height that the page needs.
  double height() const { return height_; }
  bool two_columns() const { return two_columns_; }
  /// Height of the large figure, in units.
  double value_height() const { return value_height_; }
  QRectF header() const { return header_; }
  QRectF hero() const { return hero_; }
  QRectF figures() const { return figures_; }
  QRectF chart() const { return chart_; }
  QRectF steps() const { return steps_; }
  QRectF steps_inside() const;
  QRectF notes() const { return notes_; }
  QRectF footer() const { return footer_; }
  QRectF figure_row(int row) const;
  QRectF chart_row(int row) const;
  /// The room between the chart's labels and its right edge.
  QRectF chart_area() const;
  int chart_rows() const { return content_.chart_rows; }
  double unit() const { return content_.unit; }
  double padding() const { return 1.1 * content_.unit; }

 private:
  /// Places two columns of cards from `top` on, `inner` wide together. Returns their lower end.
  double place_columns(double top, double margin, double inner);
  double hero_height() const;
  double steps_height(double width) const;
  double card_text_width(double width) const { return width - 2 * padding(); }
  OverviewContent content_;
  bool two_columns_;
  double value_height_ = 4.6;
  double height_ = 0;
  QRectF header_, hero_, figures_, chart_, steps_, notes_, footer_;
};

}  // namespace stormcell::views
