// Layout of nodes, GPUs, slots, figures, front and layers in the placement view. Pure functions of sizes.
#pragma once
#include <QRectF>
#include <QSizeF>
#include <optional>
#include <vector>

#include "views/drawing/value_axis.h"
#include "views/placement/placement_model.h"

namespace stormcell::views {

class PlacementLayout {
 public:
  /// `line`: height of a line of text; `digit`: width of a digit.
  PlacementLayout(const PlacementPage& page, QSizeF size, double line, double digit);

  QRectF headline, cluster, layers, figures, front;  ///< front: within the axes of its chart

  QRectF node(int number) const;
  QRectF gpu(size_t rank) const;
  /// Room for the name and load of a GPU; empty: there is none.
  QRectF gpu_title(size_t rank) const;
  /// The load bar of a GPU, `over_mean` times the mean: full at twice the mean.
  QRectF gpu_bar(size_t rank, double over_mean) const;
  /// True if the load is more than the bar can show.
  static bool is_beyond_bar(double over_mean) { return over_mean > 2; }
  /// The whole room of a slot, where the mouse finds it.
  QRectF cell(size_t slot) const;
  /// The tile of its expert: its area is the load's share of the largest one.
  QRectF tile(size_t slot) const { return tile(page_.held[slot], slot); }
  QRectF tile(const ShownSlot& expert, size_t slot) const;
  std::optional<size_t> slot_at(QPointF place) const;
  std::optional<size_t> gpu_at(QPointF place) const;
  /// The nearest slot in a direction of the screen (dx, dy: -1, 0, 1); the slot itself if there is none.
  size_t neighbour(size_t slot, int dx, int dy) const;

  QRectF layer(size_t number) const;  ///< the column of a layer, bar and all
  QRectF layer_bar(size_t number) const;
  /// Round figures of the layers' imbalance, and the height at which one lies.
  std::vector<double> layer_ticks() const;
  double layer_tick(double imbalance) const;
  std::optional<size_t> layer_at(QPointF place) const;

  /// True if there are points apart from each other; a single one is described in words.
  bool has_chart() const { return has_chart_; }
  QPointF at(const FrontPoint& point) const;
  /// The nearest point of the front, at most some pixels away.
  std::optional<size_t> front_at(QPointF place) const;
  const std::vector<double>& imbalance_ticks() const { return x_ticks_; }
  const std::vector<double>& pairs_ticks() const { return y_ticks_; }
  double line() const { return line_; }
  /// The height of a row of figures, and the room between those of two parts.
  double row() const { return row_; }
  static constexpr double kPartGap = 2;
  double digit() const { return digit_; }

 private:
  void choose_grid();
  void scale_front();

  const PlacementPage& page_;
  double line_, digit_, row_ = 0;
  int gpus_per_node_ = 1;
  int node_columns_ = 1, gpu_columns_ = 1, slot_columns_ = 1;
  double title_ = 0;
  bool has_chart_ = false;
  ValueAxis x_, y_;
  std::vector<double> x_ticks_, y_ticks_;
  double most_layer_ = 0;
};

}  // namespace stormcell::views
