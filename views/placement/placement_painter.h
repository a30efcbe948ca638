// Draws a placement: GPUs with their experts, figures before and now, front, layers. Knows no widget.
#pragma once
#include <QPainter>
#include <optional>

#include "views/drawing/theme.h"
#include "views/placement/placement_geometry.h"

namespace stormcell::views {

struct PlacementMarks {
  std::optional<size_t> focus;    ///< the slot that keys act on
  std::optional<size_t> hovered;  ///< under the pointer
  std::optional<size_t> taken;    ///< slot of the held expert
  ShownSlot expert;               ///< the held expert, whatever the figures of its release show there
  std::optional<size_t> target;   ///< slot where it would go
  std::optional<QPointF> hand;    ///< of the pointer that holds it; none: it is held by keys
  bool copies = false;            ///< the expert stays where it is
  QString fault;                  ///< why the target cannot be; empty: it can
  int selected_branch = -1;       ///< of the common selection
};
void paint_placement(QPainter& painter, const PlacementPage& page, const PlacementLayout& layout,
                     const PlacementMarks& marks, const Theme& theme);

}  // namespace stormcell::views
