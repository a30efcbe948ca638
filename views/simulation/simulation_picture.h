// The painted part of the simulation view: arrows go through layers, GPUs and clusters.
#pragma once
#include <QWidget>
#include <memory>

#include "views/frame/page_picture.h"
#include "views/simulation/simulation_painter.h"

namespace stormcell::views {

class SimulationPicture : public PagePicture {
  Q_OBJECT
 public:
  explicit SimulationPicture(QWidget* parent = nullptr);
  void set_page(SimulationPage page);
  QSize sizeHint() const override { return {1000, 620}; }
  const SimulationPage& page() const { return page_; }
  const SimulationMarks& marks() const { return marks_; }
  const SimulationLayout& layout_of_page() const;

 signals:
  void layer_wanted(int layer);
  void cluster_wanted(int number);  ///< of the page's clusters

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  bool is_empty() const { return page_.layers.empty(); }
  QString tip(QPointF place) const override;
  void forget_layout() override { layout_.reset(); }
  void go_to_layer(int layer);
  void go_down(int by);
  void tell();

  SimulationPage page_;
  SimulationMarks marks_;
  mutable std::unique_ptr<SimulationLayout> layout_;
};

}  // namespace stormcell::views
