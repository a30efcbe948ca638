// Draws the lines of a comparison. Knows no widget.
#pragma once
#include <QPainter>

#include "views/compare/compare_geometry.h"
#include "views/compare/compare_model.h"
#include "views/drawing/theme.h"

namespace stormcell::views {

/// Colour by the meaning of a difference, not by its sign.
QColor color_of(Meaning meaning, const Theme& theme);
/// Value at the ends of the bars: a round number above four of five visible relative differences, at most 1.
double bar_limit(const std::vector<CompareLine>& lines);

void paint_compare(QPainter& painter, const CompareModel& model, const std::vector<CompareLine>& lines,
                   const CompareGeometry& geometry, const Theme& theme, int current, int hovered);

}  // namespace stormcell::views
