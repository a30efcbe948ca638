// Warns if two sources of a model contradict each other: which one is used, and why.
#pragma once
#include "core/base/progress.h"
#include "core/formats/weight_files.h"
#include "core/models/config.h"
#include "core/models/family.h"

namespace stormcell {

/// Warns if config.json names an end token that generation_config.json does not.
void warn_of_end_tokens(const Config& config, const Config& generation, Model& model);

/// Warns if tensors that the configuration ties hold different values. It reads both from disk, which takes time.
void warn_of_unlike_copies(Model& model, const Architecture& architecture, const WeightFiles& files,
                           const Progress& progress);

}  // namespace stormcell
