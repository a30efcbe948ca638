#include "core/planning/place_figures.h"

#include <algorithm>

namespace stormcell {

const LayoutLine* PlaceFigures::find(LayoutRole role) const {
  const auto found = std::ranges::find(layouts, role, &LayoutLine::role);
  return found == layouts.end() ? nullptr : &*found;
}

std::vector<double> PlaceFigures::objectives_ms() const {
  std::vector<double> ms;
  for (const LayoutLine& line : layouts) {
    if (line.fit.objective_ms) ms.push_back(*line.fit.objective_ms);
    if (line.held_out && line.held_out->objective_ms) ms.push_back(*line.held_out->objective_ms);
  }
  return ms;
}

}  // namespace stormcell
