// Writes the fields of a struct as JSON (core/summary/fields.h).
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/figures/figure.h"
#include "core/summary/summary_json.h"
#include "core/summary/withheld.h"

namespace stormcell {

template <class Json>
class FieldWriter;
template <class T, class Json>
concept WritesFields = requires(FieldWriter<Json>& writer, const T& value) {
  fields(writer, value);
};

/// A value as JSON: an object of a struct that has fields(), null of an absent value. Sources that call it include
/// nlohmann/json.hpp: `Json` is a parameter so that its heavy header stays in sources.
template <class Json, class T>
Json value_json(const T& value);
template <class Json, class T>
Json value_json(const std::optional<T>& value) {
  return value ? value_json<Json>(*value) : Json();
}
template <class Json, class T>
Json value_json(const std::vector<T>& values) {
  Json list = Json::array();
  for (const T& value : values) list.push_back(value_json<Json>(value));
  return list;
}
template <class Json, class T>
requires(!std::is_convertible_v<T, Json>) Json value_json(const std::map<std::string, T>& values) {
  Json object = Json::object();
  for (const auto& [key, value] : values) object[key] = value_json<Json>(value);
  return object;
}

/// The visitor.
template <class Json>
class FieldWriter {
 public:
  explicit FieldWriter(Json& into) : into_(into) {}

  void operator()(const char* key, const auto& value, const Figure& = {}) { into_[key] = value_json<Json>(value); }
  void schema(const std::string& verb, const std::string& version) { begin_verb(into_, verb, version); }
  void text_or_null(const char* key, const std::string& text) { into_[key] = stormcell::text_or_null<Json>(text); }
  void infinite_or_null(const char* key, double value, const Figure&) {
    into_[key] = value;
  }  // dump() makes null of what is not finite
  void null_unless(const char* key, const auto& value, bool is_stated, const Figure& = {}) {
    into_[key] = is_stated ? value_json<Json>(value) : Json();
  }
  void true_unless_said(const char* key, bool value) { into_[key] = value; }
  void minus_one_unless_said(const char* key, int64_t value) { into_[key] = value; }
  void positive_or_null(const char* key, int64_t value) {
    into_[key] = stormcell::positive_or_null<int64_t, Json>(value);
  }
  void left_out_if_empty(const char* key, const std::vector<std::string>& list) {
    if (!list.empty()) into_[key] = list;
  }
  template <class Enum>
  void word(const char* key, Enum value, Enum (*)(std::string_view)) {
    into_[key] = to_text(value);
  }
  template <class Enum>
  void word(const char* key, const std::optional<Enum>& value, Enum (*)(std::string_view)) {
    into_[key] = value ? Json(to_text(*value)) : Json();
  }
  void withheld(const char* key, const std::optional<SpeedupWithheld>& value) {
    into_[key] = value ? Json(to_text(*value)) : Json();
    Json by;
    if (value)
      by = {{"reason", std::string(to_word(value->reason))},
            {"measured", value->measured},
            {"of", value->of > 0 ? Json(value->of) : Json()}};
    into_[std::string(key) + kWithheldBy] = std::move(by);
  }
  /// Adds JSON text; null if it is no JSON.
  void json(const char* key, const std::string& text) { read_into(into_[key], text); }
  void group(const char* key, auto members) {
    FieldWriter group(into_[key] = Json::object());
    members(group);
  }
  void group_or_null(const char* key, bool is_there, auto members) {
    into_[key] = Json();
    if (is_there) group(key, members);
  }
  void list(const char* key, const auto& values, auto members) {
    Json& list = into_[key] = Json::array();
    for (const auto& value : values) {
      FieldWriter element(list.emplace_back(Json::object()));
      members(element, value);
    }
  }
  template <class T>
  void shared(const char* key, const std::shared_ptr<const T>& value) {
    into_[key] = value ? value_json<Json>(*value) : Json();
  }
  void decoded(const char* key, const std::vector<std::vector<int32_t>>& ids, const std::vector<std::string>& texts) {
    Json& list = into_[key] = Json::array();
    for (size_t i = 0; i < ids.size(); ++i)
      list.push_back({{"ids", ids[i]}, {"text", i < texts.size() ? Json(texts[i]) : Json()}});
  }
  void derived(const char* key, const auto& value, const Figure& = {}) { into_[key] = value_json<Json>(value); }

 private:
  Json& into_;
};

template <class Json, class T>
Json value_json(const T& value) {
  if constexpr (WritesFields<T, Json>) {
    Json object = Json::object();
    FieldWriter<Json> writer(object);
    fields(writer, value);
    return object;
  } else {
    return Json(value);
  }
}

/// The object of a struct.
template <class T, class Json = nlohmann::ordered_json>
Json fields_json(const T& value) {
  return value_json<Json>(value);
}

}  // namespace stormcell
