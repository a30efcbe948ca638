#include "core/summary/placement_text.h"

namespace stormcell {

std::string placement_text(const DeviceFigures& device) {
  const std::vector<std::string>& met = device.core_placements;
  if (met.size() < 2) return device.core_placement;
  std::string text = "changing cores (mostly " + met.front() + "; also ";
  for (size_t i = 1; i < met.size(); ++i) text += (i > 1 ? "; " : "") + met[i];
  return text + ")";
}

}  // namespace stormcell
