// Layout of the places, squares and edges of the graph of routers. Pure functions of sizes.
#pragma once
#include <QPainterPath>
#include <QRectF>
#include <QSizeF>
#include <optional>
#include <vector>

#include "views/graph/graph_model.h"

namespace stormcell::views {

/// A square, by the indexes of its card, its row and its place in the row.
struct SquareAt {
  size_t card = 0, row = 0, square = 0;
  bool operator==(const SquareAt&) const = default;
};

class GraphLayout {
 public:
  /// `line`: height of a line of text; `digit`: width of a digit; `legend_height`: of graph_legend_height().
  GraphLayout(const GraphPage& page, QSizeF size, double line, double digit, double legend_height);
  /// The least height with room for everything.
  static double needed_height(const GraphPage& page, double width, double line, double digit, double legend_height);

  QRectF title, legend;
  QRectF card(size_t number) const { return cards_[number]; }
  /// The part of a card that holds its name and its share.
  QRectF head(size_t number) const;
  QRectF row(size_t card, size_t row) const;
  /// Room for the name of a row; empty: there is none.
  QRectF row_name(size_t card, size_t row) const;
  QRectF square(const SquareAt& at) const;
  /// A line for each stretch: one, or two if the edge continues in the next band.
  const QPainterPath& edge(size_t number) const { return edges_[number]; }
  double edge_width(size_t number) const;

  std::optional<size_t> card_at(QPointF point) const;
  std::optional<SquareAt> square_at(QPointF point) const;
  std::optional<size_t> edge_at(QPointF point) const;

 private:
  /// Bands that a lane's columns are broken into.
  struct Bands {
    int32_t count = 1, columns = 1;  ///< of a band
  };
  static Bands bands_of(const PlaceLane& lane, double width, double digit);
  /// Room of a place or of a passing edge; a card takes its middle.
  QRectF slot(int32_t column, int32_t row) const;
  int32_t band(int32_t column, int32_t row) const;
  void lay_edges();

  const GraphPage& page_;
  double line_, digit_;
  QRectF area_;
  double slot_width_ = 1, slot_height_ = 1;
  std::vector<Bands> bands_;       ///< by lane
  std::vector<double> lane_tops_;  ///< in slots
  std::vector<QRectF> cards_;
  std::vector<QPainterPath> edges_;
};

}  // namespace stormcell::views
