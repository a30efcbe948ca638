// Fields of JSON that another version, or somebody else, may have written: what is not there, or has not the expected type, is empty. NaN
// and Infinity where a number is read are Error(bad_input) with their place.
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace stormcell {

/// null where `object` is none, or has no such key.
const nlohmann::json& value_at(const nlohmann::json& object, const char* key);
/// An empty array where there is none.
const nlohmann::json& list_at(const nlohmann::json& object, const char* key);
std::string text_at(const nlohmann::json& object, const char* key);
double real_at(const nlohmann::json& object, const char* key);
/// Nothing where there is no number.
std::optional<double> known_at(const nlohmann::json& object, const char* key);
int64_t whole_at(const nlohmann::json& object, const char* key);
bool flag_at(const nlohmann::json& object, const char* key);

}  // namespace stormcell
