// Draws sequences as chips with stripes, the legend, and the panel beside them. Knows no widget.
#pragma once
#include <QPainter>

#include "core/readings/cell_choices.h"
#include "views/cells/cells_geometry.h"
#include "views/cells/cells_model.h"
#include "views/drawing/theme.h"

namespace stormcell::views {

/// The colour of an exit is that of the view of exits, which tells `ends` of them apart: who leaves has the exit's, who
/// goes on after the last test the end's, before it none. `key`: of a router that is no exit.
QColor branch_color(const ExitRole& test, int ends, int branch, const BranchKey& key, const Theme& theme);
QColor chip_fill(const Chip& chip, const ShownPage& page, const Theme& theme);

struct LineMarks {
  int selected = -1, hovered = -1;  ///< chips
};
/// Paints one sequence, its block's corner at `at`; only rows that `clip` touches.
void paint_line(QPainter& painter, const ShownLine& line, const LineLayout& layout, QPointF at,
                const CellsMetrics& metrics, const ShownPage& page, const LineMarks& marks, QRectF clip,
                const Theme& theme);

/// Paints the legend of tones and stripes. Returns the boxes of the branches' chips, from branch 0 on; empty if tones
/// are not branches.
std::vector<QRectF> paint_cells_legend(QPainter& painter, QRectF bounds, const ShownPage& page, const Theme& theme);
/// The height that paint_cells_legend() needs.
double cells_legend_height(const QFontMetricsF& metrics, const ShownPage& page, double width);

/// Figures of a followed cell besides its path.
struct TrailDetails {
  std::shared_ptr<const std::vector<CellChoice>> choices;  ///< by step of the trail; null: nothing is known
  QString token;
};
/// Paints the path of a followed cell, router by router: all its branches with their weights, and the branch that came
/// next. Routers of `page` have their colours. Returns the height used.
double paint_trail(QPainter& painter, QRectF bounds, const CellTrail& trail, const ShownPage& page,
                   const TrailDetails& details, const Theme& theme);
/// "next: branch 7, margin 0.031"; empty: neither is recorded.
QString next_text(const CellChoice& choice);
/// Tokens of a branch with bars of their lift, as many as fit.
void paint_dictionary(QPainter& painter, QRectF bounds, const BranchDictionary& dictionary, DictionaryOrder order,
                      const Theme& theme);
/// Paints a hint on what to choose.
void paint_hint(QPainter& painter, QRectF bounds, const QString& text, const Theme& theme);

}  // namespace stormcell::views
