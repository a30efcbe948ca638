// Placements for SGLang.
#pragma once
#include "core/base/progress.h"
#include "core/exports/export_options.h"

namespace stormcell {

/// Writes a placement for SGLang's --init-expert-location: {"physical_to_logical_map": [layers of the model][slots]}.
/// It takes no other key, so the file does not name its origin. Layers without experts hold the server's initial map.
void write_sglang_placement(const ExportOptions& options, const Progress& progress);

}  // namespace stormcell
