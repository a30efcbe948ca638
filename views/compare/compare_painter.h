// Draws the lines of a comparison. Knows no widget.
#pragma once
#include <QPainter>

#include "views/compare/compare_geometry.h"
#include "views/compare/compare_model.h"
#include "views/drawing/theme.h"

namespace stormcell::views {

/// By what a difference means, not by its sign.
QColor color_of(Meaning meaning, const Theme& theme);
/// What the ends of the bars stand for: a round figure that four of five relative differences on show stay below, at
/// most 1.
double bar_limit(const std::vector<CompareLine>& lines);

void paint_compare(QPainter& painter, const CompareModel& model, const std::vector<CompareLine>& lines,
                   const CompareGeometry& geometry, const Theme& theme, int current, int hovered);

}  // namespace stormcell::views
