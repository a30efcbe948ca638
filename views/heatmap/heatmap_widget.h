// Paints a HeatmapModel; tells which cell the pointer is on.
#pragma once
#include <QWidget>
#include <memory>

#include "views/heatmap/heatmap.h"

namespace stormcell::views {

class HeatmapWidget : public QWidget {
  Q_OBJECT
 public:
  explicit HeatmapWidget(QWidget* parent = nullptr);
  /// Null: the empty state.
  void setLoads(std::shared_ptr<const RoutingLoads> loads);
  QSize sizeHint() const override { return {720, 320}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;

 private:
  HeatmapGeometry geometryFor(QSizeF size) const;
  double labelWidth() const;
  std::unique_ptr<HeatmapModel> model_;
};

}  // namespace stormcell::views
