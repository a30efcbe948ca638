// The painted part of the view of transitions: matrices above, ribbons below.
#pragma once
#include <QWidget>

#include "views/frame/page_picture.h"
#include "views/transitions/transitions_painter.h"

namespace stormcell::views {

class TransitionsPicture : public PagePicture {
  Q_OBJECT
 public:
  explicit TransitionsPicture(QWidget* parent = nullptr);
  /// Sets one matrix, or two for routers with several branches a cell; any may be missing.
  void set_data(std::vector<PairMatrix> matrices, FlowRibbons flow, const QString& note);
  void set_selected(const QString& router, int branch);
  QSize sizeHint() const override { return {900, 520}; }
  PairGrid grid(size_t matrix) const;
  const RibbonLayout& ribbon_layout() const;

 signals:
  void picked(const QString& router, int branch);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  struct Hit {
    size_t matrix = 0;
    int row = -1, column = -1;
    bool operator==(const Hit&) const = default;
  };
  bool has_flow() const { return flow_.columns.size() > 1; }
  QRectF matrix_area(size_t matrix) const, scale_area() const, flow_area() const;
  std::optional<Hit> hit(QPointF point) const;
  QString tip(QPointF point) const override;
  void forget_layout() override { layout_.reset(); }

  std::vector<PairMatrix> matrices_;
  FlowRibbons flow_;
  std::vector<QString> names_;
  QString note_, router_;
  int branch_ = -1;
  std::optional<Hit> hovered_;
  int band_ = -1;
  mutable std::optional<RibbonLayout> layout_;
};

}  // namespace stormcell::views
