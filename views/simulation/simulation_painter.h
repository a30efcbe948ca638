// Draws a simulation: phases, sensitivity, clusters, one exchange, assumptions. Knows no widget.
#pragma once
#include <QPainter>
#include <optional>

#include "views/drawing/theme.h"
#include "views/simulation/simulation_geometry.h"

namespace stormcell::views {

struct SimulationMarks {
  std::optional<size_t> gpu, cluster;  ///< chosen by keys or under the pointer
};
void paint_simulation(QPainter& painter, const SimulationPage& page, const SimulationLayout& layout,
                      const SimulationMarks& marks, const Theme& theme);

}  // namespace stormcell::views
