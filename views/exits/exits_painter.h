// Draws exits: bars, curve, classes, items. Knows no widget.
#pragma once
#include <QPainter>
#include <optional>

#include "views/drawing/theme.h"
#include "views/exits/exits_geometry.h"

namespace stormcell::views {

struct ExitMarks {
  size_t point = 0;                   ///< point whose figures are shown; 0: those that ran
  std::optional<size_t> hovered;      ///< a point under the pointer
  std::optional<int64_t> chosen;      ///< sequence of the item that is chosen
  std::optional<QString> label = {};  ///< class that the selection names
};
void paint_exits(QPainter& painter, const ExitsPage& page, const ExitsLayout& layout, const ExitMarks& marks,
                 const Theme& theme);

}  // namespace stormcell::views
