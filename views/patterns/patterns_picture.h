// The painted part of the view patterns.
#pragma once
#include <optional>

#include "views/frame/page_picture.h"
#include "views/patterns/patterns_painter.h"

namespace stormcell::views {

class PatternsPicture : public PagePicture {
  Q_OBJECT
 public:
  explicit PatternsPicture(QWidget* parent = nullptr);
  void set_page(PatternPage page);
  const PatternPage& page() const { return page_; }
  const PatternGeometry& geometry_now() const;
  QSize sizeHint() const override { return {900, 560}; }

 signals:
  void picked(stormcell::views::PatternSpot spot);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  QString tip(QPointF place) const override;
  void forget_layout() override { layout_.reset(); }
  QString words_at(PatternSpot spot) const;
  void hover(std::optional<PatternSpot> spot);

  PatternPage page_;
  std::optional<PatternSpot> hovered_;
  mutable std::optional<PatternGeometry> layout_;
};

}  // namespace stormcell::views
