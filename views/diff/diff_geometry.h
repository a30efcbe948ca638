// Places of the parts of the view of two recordings, and of the squares of its map. Pure.
#pragma once
#include <QPointF>
#include <QRectF>
#include <QSizeF>
#include <optional>

#include "views/diff/diff_model.h"

namespace stormcell::views {

/// Figures that the layout depends on.
struct DiffShape {
  QSizeF size;
  double line = 16;   ///< height of a line of text
  double names = 80;  ///< width of the widest name of a router
  int layers = 0, groups = 0;
  int words = 4;  ///< lines of the verdict
};

struct DiffGeometry {
  explicit DiffGeometry(const DiffShape& shape);

  DiffShape shape;
  QRectF verdict;                      ///< the words above everything
  QRectF map_title, map, axis, scale;  ///< at the left; names of routers are left of `map`
  QRectF list;                         ///< the cells of the chosen square, below the map
  QRectF margins, experts, sequences;  ///< at the right, from the top

  /// A square of the map.
  QRectF square(DiffPlace place) const;
  std::optional<DiffPlace> place_at(QPointF point) const;
  /// Lines of the list that fit below its title and its head.
  int list_lines() const;
  /// A line of the list, from 0; the head is -1.
  QRectF list_line(int line) const;
  /// The line of the list at a point; -1: none.
  int list_line_at(QPointF point) const;
};

}  // namespace stormcell::views
