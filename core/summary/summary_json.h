// What the JSON texts of the contracts are written with.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace stormcell {

/// Indented by two; arrays of plain values stay on one line. What is not finite becomes null, invalid UTF-8 a replacement character.
std::string json_text(const nlohmann::ordered_json& value);

/// {schema: "stormcell.VERB/1", version}: how every one begins.
nlohmann::ordered_json json_of_verb(const std::string& verb);

}  // namespace stormcell
