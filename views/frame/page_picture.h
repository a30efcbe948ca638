// A picture of a page: it keeps its layout until size or font change, and shows tips.
#pragma once
#include <QWidget>

namespace stormcell::views {

class PagePicture : public QWidget {
 public:
  using QWidget::QWidget;

 protected:
  /// The tip at this place; empty: none.
  virtual QString tip(QPointF place) const = 0;
  /// Called when the size or the font has changed.
  virtual void forget_layout() = 0;

  bool event(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;
};

}  // namespace stormcell::views
