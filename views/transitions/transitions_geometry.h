// Layout of the squares of a matrix of pairs and of the ribbons of a flow. Pure functions of sizes.
#pragma once
#include <QPainterPath>
#include <QRectF>
#include <optional>
#include <vector>

#include "views/transitions/transitions_model.h"

namespace stormcell::views {

/// A matrix as large as fits; its squares are no larger than needed.
struct PairGrid {
  QRectF area;
  int rows = 1, columns = 1;
  double side() const { return area.width() / columns; }
  double row_height() const { return area.height() / rows; }
  QRectF cell(int row, int column) const;
  std::optional<std::pair<int, int>> at(QPointF point) const;
};
/// Height of the tallest row.
inline constexpr double kTallest = 38;
/// `left`, `top`: room for labels.
PairGrid pair_grid(QRectF bounds, int rows, int columns, double left, double top);

/// The layout of a flow: a bar for each branch that has a ribbon, a band for each ribbon, and a lane below for pairs
/// without one, which would leave the ribbons no room.
struct RibbonLayout {
  struct Node {
    int column = 0, branch = 0;
    int64_t count = 0;
    QRectF box;
    int category = 0;  ///< of its colour; -1: it is on no chain in colour
  };
  struct Band {
    int ribbon = 0;  ///< index; -1 - step: the merged ones of a step
    QPainterPath path;
  };
  std::vector<Node> nodes;
  std::vector<Band> bands;  ///< in the order in which they are painted
  QRectF lane;              ///< its height stands for all cells of a step; empty if every pair has a ribbon
  QRectF lane_step(int step, double share) const;
  int steps = 0, last_column = 0;
  double gap = 0;  ///< between the bars of two columns
  const Node* node_at(QPointF point) const;
  int band_at(QPointF point) const;  ///< index into bands, -1: none
};
/// `line`: height of a line of text.
RibbonLayout lay_out(const FlowRibbons& flow, QRectF bounds, double line);

}  // namespace stormcell::views
