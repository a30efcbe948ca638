// Draws matrices of pairs and the flow of cells as ribbons. Knows no widget.
#pragma once
#include <QPainter>

#include "views/drawing/theme.h"
#include "views/transitions/transitions_geometry.h"

namespace stormcell::views {

struct PairMarks {
  int row = -1, column = -1;  ///< chosen branches
  std::optional<std::pair<int, int>> hovered;
};
/// Paints the matrix with labels of rows and columns in the room that pair_grid() left, and its title above.
void paint_pairs(QPainter& painter, QRectF bounds, const PairGrid& grid, const PairMatrix& matrix,
                 const PairMarks& marks, const Theme& theme);
void paint_pair_scale(QPainter& painter, QRectF bounds, const PairMatrix& matrix, const Theme& theme);

struct FlowMarks {
  int column = -1, branch = -1;  ///< chosen
  int band = -1;                 ///< under the pointer
};
/// `names`: of the columns, in the strip of `header` height above the layout's bounds.
void paint_flow(QPainter& painter, QRectF bounds, double header, const FlowRibbons& flow, const RibbonLayout& layout,
                const std::vector<QString>& names, const FlowMarks& marks, const Theme& theme);
QString flow_caption(const FlowRibbons& flow);

}  // namespace stormcell::views
