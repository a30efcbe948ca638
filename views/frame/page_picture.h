// A picture of a page: what its layout depends on, and where its tips come from.
#pragma once
#include <QWidget>

namespace stormcell::views {

class PagePicture : public QWidget {
 public:
  using QWidget::QWidget;

 protected:
  /// What is said of this place; empty: nothing.
  virtual QString tip(QPointF place) const = 0;
  /// The size or the font is another.
  virtual void forget_layout() = 0;

  bool event(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;
};

}  // namespace stormcell::views
