// Reads fields of JSON that another version or another program may have written. A field that is missing or has another
// type is empty. NaN or Infinity in place of a number is Error(bad_input) with its place.
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace stormcell {

/// null if `object` is no object, or has no such key.
const nlohmann::json& value_at(const nlohmann::json& object, const char* key);
/// An empty array if there is none.
const nlohmann::json& list_at(const nlohmann::json& object, const char* key);
std::string text_at(const nlohmann::json& object, const char* key);
double real_at(const nlohmann::json& object, const char* key);
/// Empty if there is no number.
std::optional<double> known_at(const nlohmann::json& object, const char* key);
int64_t whole_at(const nlohmann::json& object, const char* key);
/// A whole number, also one written as 4.0 or 1e3. Nothing if it is another value or does not fit.
std::optional<int64_t> whole_value(const nlohmann::json& value);
bool flag_at(const nlohmann::json& object, const char* key);

}  // namespace stormcell
