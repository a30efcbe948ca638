// Published architectures by name.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string_view>
#include <vector>

namespace stormcell {

/// The key of a preset's weights that are drawn otherwise than their family says, by name: mean and deviation of the
/// elements, or {"elements": [...]}, each of them.
inline constexpr const char* kCalibrationKey = "stormcell_calibration";
/// The config.json of a preset; the error lists the known ones.
nlohmann::json preset_config(std::string_view name);
/// All presets, in the order of presets.cpp.
std::vector<std::string_view> preset_names();

}  // namespace stormcell
