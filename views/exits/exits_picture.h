// The painted part of the view of exits: drag along the curve, or left and right, chooses thresholds.
#pragma once
#include <QWidget>
#include <memory>

#include "views/exits/exits_painter.h"
#include "views/frame/page_picture.h"

namespace stormcell::views {

class ExitsPicture : public PagePicture {
  Q_OBJECT
 public:
  explicit ExitsPicture(QWidget* parent = nullptr);
  void set_page(ExitsPage page);
  /// Sets the point whose figures are shown; 0: the thresholds that ran.
  void set_point(size_t point);
  void set_selected(std::optional<int64_t> sequence, const QString& label);
  QSize sizeHint() const override { return {900, 560}; }
  const ExitsPage& page() const { return page_; }
  size_t point() const { return marks_.point; }
  const ExitsLayout& layout_of_page() const;

 signals:
  void point_wanted(int point);
  void item_picked(qint64 sequence);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  QString tip(QPointF place) const override;
  void forget_layout() override { layout_.reset(); }
  void tell();

  ExitsPage page_;
  ExitMarks marks_;
  bool drags_ = false;
  mutable std::unique_ptr<ExitsLayout> layout_;
};

}  // namespace stormcell::views
