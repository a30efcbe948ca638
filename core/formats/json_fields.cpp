#include "core/formats/json_fields.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/formats/json_file.h"

namespace stormcell {

using nlohmann::json;

const json& value_at(const json& object, const char* key) {
  static const json none;
  if (!object.is_object()) return none;
  const auto found = object.find(key);
  return found == object.end() ? none : *found;
}

const json& list_at(const json& object, const char* key) {
  static const json none = json::array();
  const json& value = value_at(object, key);
  return value.is_array() ? value : none;
}

std::string text_at(const json& object, const char* key) {
  const json& value = value_at(object, key);
  return value.is_string() ? value.get<std::string>() : std::string();
}

namespace {
/// Python's NaN does not count as a missing number: the reader of the key refuses it.
const json& number_at(const json& object, const char* key) {
  const json& value = value_at(object, key);
  if (is_not_finite(value)) refuse_not_finite(value, key);
  return value;
}
}  // namespace

double real_at(const json& object, const char* key) {
  const json& value = number_at(object, key);
  return value.is_number() ? value.get<double>() : 0;
}

std::optional<double> known_at(const json& object, const char* key) {
  const json& value = number_at(object, key);
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

int64_t whole_at(const json& object, const char* key) {
  const json& value = number_at(object, key);
  return value.is_number_integer() ? value.get<int64_t>() : 0;
}

std::optional<int64_t> whole_value(const json& value) {
  constexpr double kMostExact = 9007199254740992;  // 2^53: below, each whole number has a value of its own
  if (value.is_number_unsigned() && value.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX)) return {};
  if (value.is_number_integer()) return value.get<int64_t>();
  if (!value.is_number_float()) return {};
  const double real = value.get<double>();
  if (!(std::fabs(real) < kMostExact) || real != std::floor(real)) return {};
  return static_cast<int64_t>(real);
}

bool flag_at(const json& object, const char* key) {
  const json& value = value_at(object, key);
  return value.is_boolean() && value.get<bool>();
}

}  // namespace stormcell
