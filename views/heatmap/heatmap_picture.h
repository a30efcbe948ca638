// The painted heatmap: one map or two, and routers over time below.
#pragma once
#include <QWidget>
#include <optional>
#include <vector>

#include "views/heatmap/heatmap_painter.h"

namespace stormcell::views {

/// The picture: HeatmapView sets its content, the mouse asks it.
class HeatmapPicture : public QWidget {
  Q_OBJECT
 public:
  explicit HeatmapPicture(QWidget* parent = nullptr);
  struct Panel {
    QString title;  ///< of the run, if there are two
    HeatMatrix matrix;
    QImage tones;
    std::vector<std::vector<HeatCell>> paths;
  };
  /// Sets one panel, or two beside each other. `over_time`: routers to show below, as many as have room, of `routers`
  /// in all.
  void set_panels(std::vector<Panel> panels, std::vector<RouterOverTime> over_time, size_t routers);
  void set_trail_text(const QString& text);
  /// Words on the picture itself if it shows a part of the data; empty: none.
  void set_part_text(const QString& text);
  void set_selected(const QString& router, int branch);
  void reset_zoom();
  QSize sizeHint() const override { return {900, 520}; }
  HeatGeometry geometry(size_t panel) const;
  const HeatMatrix& matrix(size_t panel) const { return panels_[panel].matrix; }

 signals:
  void picked(const QString& router, int branch);
  /// Asks for the HTML text on the cell under the pointer.
  void tip_wanted(size_t panel, int row, int column, const QPoint& global);

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  QRectF bounds(size_t panel) const;
  double labels() const;
  std::optional<std::pair<size_t, HeatCell>> at(QPointF point) const;
  std::optional<HeatCell> selected(const HeatMatrix& matrix) const;
  void remake_tones();

  struct TimePanel {
    RouterOverTime over_time;
    QImage tones;
  };
  std::vector<Panel> panels_;
  std::vector<TimePanel> over_time_;
  size_t routers_ = 0;
  mutable double labels_ = -1;  ///< result of labels(); < 0: measure again
  /// Height of the lines above the map.
  double head() const;
  QString trail_text_, part_text_, router_;
  int branch_ = -1;
  HeatWindow window_{0, 0, 1e9, 1e9};
  std::optional<std::pair<size_t, HeatCell>> hovered_;
  std::optional<QPointF> grabbed_;
  HeatWindow grabbed_window_;
  bool moved_ = false;
};

}  // namespace stormcell::views
