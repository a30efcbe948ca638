// Placements as servers keep them: read back, so that the one in place can be judged, and so that an exported one reads
// back the same.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/placement/placement.h"

namespace stormcell {

struct PlacementFile {
  bool by_model_layer = false;  ///< layers are the model's; else those with experts are counted, from 0
  bool shared_experts = false;  ///< it may hold shared experts behind the routed ones, each on every rank
  std::map<int32_t, LayerSlots> layers;
  int32_t ranks = 0;  ///< ranks that it is for; 0: it does not say
};

/// Reads a format told by the content. Error(bad_input) that begins with `where`: no such format, or a fault in one.
PlacementFile parse_placement_file(std::string_view text, const std::string& where);

/// The layers with these numbers of the model (-1: not known), in this order, without shared experts. `model_layers`:
/// those without experts included; 0: not known, the last of these is the model's last. Error(bad_input): a layer is
/// missing, or is no layer of `branches` on `ranks`; there are more than the model has; the numbers are not known and
/// the file goes by them.
Placement placement_in_file(const PlacementFile& file, const std::vector<int32_t>& numbers, int32_t model_layers,
                            int32_t branches, int32_t ranks, const std::string& where);

}  // namespace stormcell
