// Tensors of a model's files that its graph does not read. Some are harmless, some show a mistake, and a warning names
// the others.
#pragma once
#include <string>
#include <string_view>

#include "core/formats/weight_files.h"
#include "core/models/family.h"

namespace stormcell {

/// True for tensors that many checkpoints have and no graph needs: tables of rotary positions, numbers of positions,
/// the count of batches of a norm.
bool is_buffer(std::string_view tensor);

/// Adds one warning to the model: it counts the tensors that are not read and names the first three. Error(bad_input)
/// if they are layers or experts beyond those of config.json: the model would run shortened.
void warn_of_unread(Model& model, const Architecture& architecture, const WeightFiles& files,
                    const std::string& config_path);

}  // namespace stormcell
