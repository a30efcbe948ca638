// Tensors of a model's files that its graph does not read: harmless ones, surplus that is a mistake, and others, which a warning names.
#pragma once
#include <string>
#include <string_view>

#include "core/formats/weight_files.h"
#include "core/models/family.h"

namespace stormcell {

/// True for tensors that checkpoints of many families carry and that are computed anew or only count: tables of rotary positions, numbers
/// of positions, batches that a norm has seen.
bool is_buffer(std::string_view tensor);

/// One warning that counts the tensors nobody reads and names the first three. Error(bad_input): they are layers or experts beyond those of
/// config.json, so that the model would run cut short.
void warn_of_unread(Model& model, const Architecture& architecture, const WeightFiles& files, const std::string& config_path);

}  // namespace stormcell
