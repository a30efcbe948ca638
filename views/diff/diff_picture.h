// The painted part of the view of two recordings.
#pragma once
#include <memory>

#include "views/diff/diff_painter.h"
#include "views/frame/page_picture.h"

namespace stormcell::views {

class DiffPicture : public PagePicture {
  Q_OBJECT
 public:
  explicit DiffPicture(QWidget* parent = nullptr);
  void set_figures(std::shared_ptr<const DifferenceFigures> figures);
  const std::shared_ptr<const DifferenceFigures>& figures() const { return figures_; }
  /// The square whose cells are listed.
  void set_chosen(DiffPlace place);
  DiffPlace chosen() const { return marks_.chosen; }
  const DiffGeometry& geometry_now() const;
  QSize sizeHint() const override { return {900, 560}; }

 signals:
  void picked(stormcell::views::DiffPlace place);
  /// A cell of the list.
  void cell_picked(int sample);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  QString tip(QPointF place) const override;
  void forget_layout() override { layout_.reset(); }
  void scroll_list(int lines);

  std::shared_ptr<const DifferenceFigures> figures_;
  std::vector<QString> names_;
  DiffMarks marks_;
  mutable std::optional<DiffGeometry> layout_;
};

}  // namespace stormcell::views
