// Placements as text, as sessions keep them: stormcell.placement/1.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/placement/placement.h"

namespace stormcell {

/// A placement and whose layers it is of.
struct NamedPlacement {
  Placement placement;
  std::vector<std::string> routers;  ///< by layer of the placement
  std::vector<int32_t> numbers;      ///< the model's numbers of these layers, -1: not known
  int32_t model_layers = 0;          ///< those without branches included, 0: not known
  int32_t nodes = 1;
};

std::string to_json(const NamedPlacement& placement);
/// Error(bad_input) that begins with `where` and says what is wrong.
NamedPlacement parse_placement(const std::string& text, const std::string& where);

}  // namespace stormcell
