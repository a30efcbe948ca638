// Two sources of a model that say different things: which of them is used, and why. One warning each.
#pragma once
#include "core/base/progress.h"
#include "core/formats/weight_files.h"
#include "core/models/config.h"
#include "core/models/family.h"

namespace stormcell {

/// config.json names an end token that generation_config.json leaves out.
void warn_of_end_tokens(const Config& config, const Config& generation, Model& model);

/// Tensors that the configuration ties hold different values. Reads both, so it takes as long as reading them from disk.
void warn_of_unlike_copies(Model& model, const Architecture& architecture, const WeightFiles& files, const Progress& progress);

}  // namespace stormcell
