// Colours that tell branches apart: a hue for each of a few, the rank by load of many.
#pragma once
#include <QColor>
#include <cstdint>
#include <span>
#include <vector>

#include "views/drawing/theme.h"

namespace stormcell::views {

/// Rank by load of every branch, 0: the busiest. Empty for so few branches that each has a hue of its own.
std::vector<int> load_ranks(std::span<const int64_t> load);
/// The hue of a branch, or the tone of its rank where `ranks` has one for it: the busier the stronger.
QColor branch_color(int branch, const std::vector<int>& ranks, const Theme& theme);

}  // namespace stormcell::views
