// Layout of the heatmap's rows and columns, zoomed and moved. Pure functions of sizes.
#pragma once
#include <QPointF>
#include <QRectF>
#include <optional>
#include <vector>

namespace stormcell::views {

struct HeatCell {
  int row = -1, column = -1;
  bool operator==(const HeatCell&) const = default;
};

/// The visible part of the matrix, in rows and columns; the whole matrix: {0, 0, columns, rows}.
struct HeatWindow {
  double left = 0, top = 0, width = 1, height = 1;
  bool operator==(const HeatWindow&) const = default;
};

class HeatGeometry {
 public:
  /// `area`: room of the cells, without labels.
  HeatGeometry(int rows, int columns, QRectF area, const HeatWindow& window);
  QRectF area() const { return area_; }
  /// Lies outside of the area if the cell is not visible.
  QRectF cell(int row, int column) const;
  std::optional<HeatCell> at(QPointF point) const;
  double cell_width() const { return area_.width() / window_.width; }
  double cell_height() const { return area_.height() / window_.height; }
  int first_row() const, end_row() const, first_column() const, end_column() const;

  /// The window after a zoom by `factor` (> 1: closer) around `point`, and after a move by pixels. It stays within the
  /// matrix and shows at least two cells.
  HeatWindow zoomed(QPointF point, double factor) const;
  HeatWindow moved(QPointF by) const;

 private:
  HeatWindow kept(HeatWindow w) const;
  int rows_, columns_;
  QRectF area_;
  HeatWindow window_;
};

/// The part of the picture below the map.
enum class BelowMap { nothing, routers_over_time };
/// The area for cells in `bounds`. If something is below, rows are as tall as needed, a few of them up to twice that,
/// so that three routers neither fill a screen nor leave it empty; else as tall as there is room.
QRectF heat_area(QRectF bounds, double label_width, double header_height, int rows, BelowMap below);

/// Panels below one another for routers with so many branches, as many as fit: no higher than needed, no lower than
/// readable.
std::vector<QRectF> time_panels(QRectF bounds, const std::vector<int>& branches);

}  // namespace stormcell::views
