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

/// [layers] the index into `numbers` for servers that count the layers with experts from 0, in the order of the model.
/// The order of `numbers` if not all are known; of equal numbers the first one first.
std::vector<size_t> order_in_model(const std::vector<int32_t>& numbers);

std::string to_json(const NamedPlacement& placement);
/// Error(bad_input) that begins with `where` and names the fault.
NamedPlacement parse_placement(const std::string& text, const std::string& where);

}  // namespace stormcell
