// The heatmap with its controls, one router over time below it, and the time strip.
#pragma once
#include "views/heatmap/heatmap_painter.h"
#include "views/kit/time_strip.h"
#include "views/kit/view.h"

class QCheckBox;
class QComboBox;
class QLineEdit;
class QDoubleSpinBox;
class QToolButton;

namespace stormcell::views {

/// What is painted; pushed by HeatmapView, asked by the mouse.
class HeatmapPicture : public QWidget {
  Q_OBJECT
 public:
  explicit HeatmapPicture(QWidget* parent = nullptr);
  struct Panel {
    QString title;  ///< of the run, where there are two
    HeatMatrix matrix;
    QImage tones;
    std::vector<std::vector<HeatCell>> paths;
  };
  /// One panel, or two beside each other. `over_time`: routers to show below as far as there is room, of `routers` that there are.
  void set_panels(std::vector<Panel> panels, std::vector<RouterOverTime> over_time, size_t routers);
  void set_trail_text(const QString& text);
  void set_selected(const QString& router, int branch);
  void reset_zoom();
  QSize sizeHint() const override { return {900, 520}; }
  HeatGeometry geometry(size_t panel) const;
  const HeatMatrix& matrix(size_t panel) const { return panels_[panel].matrix; }

 signals:
  void picked(const QString& router, int branch);
  /// HTML for the cell under the pointer is wanted.
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
  mutable double labels_ = -1;  ///< what labels() measured; < 0: measure again
  QString trail_text_, router_;
  int branch_ = -1;
  HeatWindow window_{0, 0, 1e9, 1e9};
  std::optional<std::pair<size_t, HeatCell>> hovered_;
  std::optional<QPointF> grabbed_;
  HeatWindow grabbed_window_;
  bool moved_ = false;
};

class HeatmapView : public View {
  Q_OBJECT
 public:
  explicit HeatmapView(QWidget* parent = nullptr);
  Table table() const override;
  QWidget* picture() override { return content_; }

 protected:
  Load load(const Context& context, const Selection& selection) override;
  void select(const Selection& selection) override;
  Parts heeded() const override;
  QStringList remarks() const override;

 private:
  struct Data {
    std::shared_ptr<const LoadWindows> all, fine, other, other_fine;
    std::shared_ptr<const CellTrail> trail;
    std::optional<CellPlace> trail_of;  ///< also where there was none
  };
  void show_data();
  /// A short range is read again from a finer level.
  static bool wants_fine(const Data& known, const Selection& selection);
  /// The windows that the selected range is read from: finer ones where the range is short.
  const LoadWindows& windows() const;
  const LoadWindows& other_windows() const;
  bool fine_fits() const;
  HeatOptions options() const;
  /// True where two runs are shown and only one of them has padding among its cells: the other did not compute it, or was given none.
  bool padding_in_one_run_only() const;
  void follow();

  QWidget* content_;
  HeatmapPicture* picture_;
  TimeStrip* strip_;
  QComboBox *metric_, *scale_, *order_, *pair_;
  QCheckBox* padding_;
  QDoubleSpinBox* high_;
  QLineEdit* cell_;
  QToolButton* play_;
  Data data_;
  Context context_;
  Selection selection_;
};

}  // namespace stormcell::views
