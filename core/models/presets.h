// Published architectures by name.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string_view>
#include <vector>

namespace stormcell {

/// The config.json of a preset; the error lists the known ones.
nlohmann::json preset_config(std::string_view name);
/// All presets, in the order of presets.cpp.
std::vector<std::string_view> preset_names();

}  // namespace stormcell
