// Placements for SGLang.
#pragma once
#include "core/base/progress.h"
#include "core/exports/export_options.h"

namespace stormcell {

/// A placement for SGLang's --init-expert-location: {"physical_to_logical_map": [layers of the model][slots]}. It takes
/// no other key, so the file does not say where it comes from. Layers without experts hold what the server begins with.
void write_sglang_placement(const ExportOptions& options, const Progress& progress);

}  // namespace stormcell
