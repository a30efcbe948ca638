// Published architectures by name.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace stormcell {

/// The config.json of a preset; the error lists the known ones.
nlohmann::json preset_config(std::string_view name);

}  // namespace stormcell
