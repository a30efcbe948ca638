// Places of the parts of the view patterns: a map or curves, with axes, scale and keys. Pure.
#pragma once
#include <QPointF>
#include <QRectF>
#include <QSizeF>
#include <optional>

namespace stormcell::views {

/// Figures that the layout depends on.
struct PatternShape {
  QSizeF size;
  double line = 16;           ///< height of a line of text
  double names = 60;          ///< width of the widest name of a row, or of a figure of the vertical axis
  int rows = 0, columns = 0;  ///< of the map; rows 0: curves over `columns` places
};

struct PatternSpot {
  int row = 0, column = 0;
  bool operator==(const PatternSpot&) const = default;
};

struct PatternGeometry {
  explicit PatternGeometry(const PatternShape& shape);

  PatternShape shape;
  QRectF title, plot;  ///< names of rows, or figures, are left of `plot`
  QRectF axis;         ///< names of columns, below
  QRectF scale;        ///< the scale of tones, or the keys of the lines

  QRectF square(PatternSpot spot) const;
  /// The middle of a place of the curves.
  double x_of(int column) const;
  /// `height`: 0 is the lower end of the plot, 1 the upper one.
  double y_of(double height) const { return plot.bottom() - height * plot.height(); }
  /// The square at a point; of curves the nearest column, in row 0.
  std::optional<PatternSpot> spot_at(QPointF point) const;
};

}  // namespace stormcell::views
