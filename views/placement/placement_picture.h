// The painted part of the placement view: experts are taken and let go by mouse or keys.
#pragma once
#include <QWidget>
#include <memory>

#include "views/frame/page_picture.h"
#include "views/placement/placement_painter.h"

namespace stormcell::views {

class PlacementPicture : public PagePicture {
  Q_OBJECT
 public:
  explicit PlacementPicture(QWidget* parent = nullptr);
  /// Sets another state of the page; if layer or shape differ, the held expert is dropped.
  void set_page(PlacementPage page);
  /// Sets the reason why the held expert cannot go to the slot below it; empty: it can. The view calls it on
  /// held_over().
  void set_fault(const QString& fault);
  void set_selected_branch(int branch);
  void let_go();  ///< drops the held expert
  QSize sizeHint() const override { return {1000, 620}; }
  const PlacementPage& page() const { return page_; }
  const PlacementMarks& marks() const { return marks_; }
  const PlacementLayout& layout_of_page() const;

 signals:
  /// The held expert is over another slot, or over none: its figures are wanted.
  void held_over(int from, int to, bool copies);
  /// The held expert was released there.
  void dropped(int from, int to, bool copies);
  void drop_wanted(int slot);  ///< the replica in this slot is to be removed
  void layer_wanted(int layer);
  void front_wanted(int point);
  void branch_picked(int branch);
  void menu_wanted(int slot, const QPoint& global);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void keyReleaseEvent(QKeyEvent* event) override;

 private:
  QString tip(QPointF place) const override;
  void forget_layout() override { layout_.reset(); }
  void take(size_t slot, bool copies, std::optional<QPointF> hand);
  void hold_over(std::optional<size_t> target, bool copies);
  void finish();
  bool move_by_key(int key);
  void tell();

  PlacementPage page_;
  PlacementMarks marks_;
  std::optional<size_t> pressed_;
  QPointF pressed_at_;
  mutable std::unique_ptr<PlacementLayout> layout_;
};

}  // namespace stormcell::views
