// Draws the view patterns: a map of tones, or curves with the band of even routers behind them.
#pragma once
#include <QPainter>
#include <optional>
#include <vector>

#include "views/drawing/theme.h"
#include "views/patterns/patterns_geometry.h"
#include "views/patterns/patterns_model.h"

namespace stormcell::views {

/// The range of the vertical axis: all values and what chance gives, with some room.
struct PatternRange {
  double low = 0, high = 1;
  double height_of(double value) const { return high > low ? (value - low) / (high - low) : 0; }
};
PatternRange range_of(const PatternPage& page);
/// Round values inside the range.
std::vector<double> marks_of(const PatternRange& range);

void paint_pattern_page(QPainter& painter, const PatternPage& page, const PatternGeometry& geometry,
                        std::optional<PatternSpot> hovered, const Theme& theme);

}  // namespace stormcell::views
