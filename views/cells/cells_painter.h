// Draws sequences as chips with stripes, the legend, and what stands beside them. Knows no widget.
#pragma once
#include <QPainter>

#include "views/cells/cells_geometry.h"
#include "views/cells/cells_model.h"
#include "views/drawing/theme.h"

namespace stormcell::views {

/// Of an exit as the view of exits has it: who leaves has the exit's colour, who goes on after the last test the end's,
/// before it none.
QColor branch_color(const ExitRole& test, int branch, const Theme& theme);
QColor chip_fill(const Chip& chip, const ShownPage& page, const Theme& theme);

struct LineMarks {
  int selected = -1, hovered = -1;  ///< chips
};
/// One sequence, its block's corner at `at`; only rows that `clip` touches.
void paint_line(QPainter& painter, const ShownLine& line, const LineLayout& layout, QPointF at,
                const CellsMetrics& metrics, const ShownPage& page, const LineMarks& marks, QRectF clip,
                const Theme& theme);

/// What tones and stripes stand for. Returns where the branches' chips lie, from branch 0 on; empty where tones are no
/// branches.
std::vector<QRectF> paint_cells_legend(QPainter& painter, QRectF bounds, const ShownPage& page, const Theme& theme);
/// Height that paint_cells_legend() wants.
double cells_legend_height(const QFontMetricsF& metrics, const ShownPage& page, double width);

/// Where a followed cell went, router by router, of which `routers` are those of the page. Returns the height used.
double paint_trail(QPainter& painter, QRectF bounds, const CellTrail& trail, const std::vector<RouterLine>& routers,
                   const QString& token, const Theme& theme);
/// Tokens of a branch with bars of their lift, as many as fit.
void paint_dictionary(QPainter& painter, QRectF bounds, const BranchDictionary& dictionary, DictionaryOrder order,
                      const Theme& theme);
/// What can be done here, where nothing is chosen.
void paint_hint(QPainter& painter, QRectF bounds, const QString& text, const Theme& theme);

}  // namespace stormcell::views
