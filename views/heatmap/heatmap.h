// Loads of routers (rows) by branch (columns): geometry apart from painting, so that it is tested without a window.
#pragma once
#include <QColor>
#include <QPointF>
#include <QRectF>
#include <QString>
#include <memory>
#include <optional>
#include <vector>

#include "core/experiment/session_view.h"

namespace stormcell::views {

/// What the heatmap shows: each cell's share of its row relative to an even load (1 = even).
struct HeatmapModel {
  explicit HeatmapModel(std::shared_ptr<const RoutingLoads> loads);
  std::shared_ptr<const RoutingLoads> loads;
  int columns = 0;       ///< most branches of a row
  double scale_max = 1;  ///< largest relative load
  /// Load over the mean load of the row; 0 for a row without load.
  double relative(int row, int column) const;
  /// "encoder.block.1 ... branch 3: 1,234 cells, 15.2 % of the router's, 1.2 times the mean".
  QString tip(int row, int column) const;
};

struct HeatmapCell {
  int row = -1, column = -1;
  bool operator==(const HeatmapCell&) const = default;
};

/// Where cells lie in a given size; device-independent pixels.
class HeatmapGeometry {
 public:
  HeatmapGeometry(const HeatmapModel& model, QSizeF size, double label_width, double header_height);
  QRectF cell(int row, int column) const;
  QRectF row_label(int row) const;
  std::optional<HeatmapCell> at(QPointF point) const;
  double cell_width() const { return cell_width_; }
  double cell_height() const { return cell_height_; }

 private:
  const HeatmapModel& model_;
  double left_, top_, cell_width_ = 1, cell_height_ = 1;
};

/// A sequential palette with even steps in lightness, readable in both themes and without telling red from green.
QColor heat_color(double share, bool dark);

}  // namespace stormcell::views
