// The painted part of the view of the routers' graph: arrows go from place to place, with Shift from branch to branch.
#pragma once
#include <QWidget>
#include <memory>

#include "views/frame/page_picture.h"
#include "views/graph/graph_painter.h"

namespace stormcell::views {

class GraphPicture : public PagePicture {
  Q_OBJECT
 public:
  explicit GraphPicture(QWidget* parent = nullptr);
  void set_page(GraphPage page);
  void set_selected(const QString& router, int branch);
  /// The way of the chosen cell; no stops: none.
  void set_way(GraphWay way, const QString& text);
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override;
  QSize sizeHint() const override { return {900, 560}; }
  const GraphPage& page() const { return page_; }
  const GraphWay& way() const { return marks_.way; }
  const GraphLayout& layout_of_page() const;

 signals:
  void picked(const QString& router, int branch);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  QString tip(QPointF point) const override;
  void forget_layout() override { layout_.reset(); }
  void pick(int32_t router, int32_t branch);
  void go_to_place(int columns, int rows);
  void go_to_branch(int by);
  void tell();

  GraphPage page_;
  GraphMarks marks_;
  QString router_;
  int branch_ = -1;
  mutable std::unique_ptr<GraphLayout> layout_;
};

}  // namespace stormcell::views
