// Draws the graph of routers: places as cards, their branches as squares, edges by transitions. Knows no widget.
#pragma once
#include <QPainter>

#include "views/drawing/theme.h"
#include "views/graph/graph_geometry.h"

namespace stormcell::views {

struct GraphMarks {
  int32_t router = -1, branch = -1;  ///< chosen; router without branch: its card
  std::optional<size_t> edge;        ///< under the pointer
  GraphWay way;                      ///< of the chosen cell; no stops: none
  QString way_text;
};
/// Height that the legend wants in a picture of this width: its words take as many lines as they need.
double graph_legend_height(const QFontMetricsF& metrics, const GraphPage& page, double width);
void paint_graph(QPainter& painter, const GraphPage& page, const GraphLayout& layout, const GraphMarks& marks,
                 const Theme& theme);

}  // namespace stormcell::views
