// Draws two recordings of the same tokens: verdict, map, margins, experts, first differences, cells. Knows no widget.
#pragma once
#include <QPainter>

#include "views/diff/diff_geometry.h"
#include "views/drawing/branch_colors.h"
#include "views/drawing/theme.h"

namespace stormcell::views {

struct DiffMarks {
  DiffPlace chosen;  ///< its cells are listed
  DiffPlace hovered;
  int first_line = 0;  ///< of the list: it scrolls
};

/// The lines that the verdict takes.
int lines_of_words(const DiffWords& words);
/// The things that the picture tells apart by colour alone.
std::vector<ColorMeaning> diff_meanings(const Theme& theme);

void paint_diff(QPainter& painter, const DifferenceFigures& figures, const DiffGeometry& geometry,
                const std::vector<QString>& names, const DiffMarks& marks, const Theme& theme);

}  // namespace stormcell::views
