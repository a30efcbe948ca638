// A session's placement, as exports to servers take it.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/exports/export_options.h"
#include "core/placement/placement_text.h"

namespace stormcell {

struct ExportedPlacement {
  NamedPlacement named;
  std::string where;   ///< "S.storm#4", for messages
  std::string origin;  ///< one line with the file's origin, for formats that have comments
};
/// The placement that the options name, else the newest. Error(bad_input): there is none.
ExportedPlacement find_exported_placement(const ExportOptions& options);

/// [layers of the model] the placement's layer for each, -1: one without experts. Error(bad_input): they are not known,
/// or two routers share one.
std::vector<int32_t> layers_of_model(const ExportedPlacement& placement);

/// Its layers in the order of the model, for servers that count only those with experts. Error(bad_input): two routers
/// share one.
std::vector<LayerSlots> layers_with_experts(const ExportedPlacement& placement);

}  // namespace stormcell
