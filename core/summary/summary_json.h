// The tools that write the JSON texts of the verbs.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace stormcell {

/// The text, indented by two; arrays of plain values stay on one line. Numbers that are not finite become null, invalid
/// UTF-8 a replacement character.
std::string json_text(const nlohmann::ordered_json& value);

/// {schema: "stormcell.VERB/1", version}: how every one begins.
nlohmann::ordered_json json_of_verb(const std::string& verb);
/// The same, of that version of the program; empty: of this one.
void begin_verb(nlohmann::ordered_json& into, const std::string& verb, const std::string& version);
/// Parses text that is JSON; null if it is none.
void read_into(nlohmann::ordered_json& into, const std::string& text);

// Null for an absent value. `Json` is a parameter so that the heavy header of it stays in sources: nobody names
// another.
template <class T, class Json = nlohmann::ordered_json>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}
template <class Json = nlohmann::ordered_json>
Json text_or_null(const std::string& text) {
  return text.empty() ? Json() : Json(text);
}
template <class T, class Json = nlohmann::ordered_json>
Json positive_or_null(T value) {
  return value > 0 ? Json(value) : Json();
}

template <class T, class Json = nlohmann::ordered_json>
Json list_of(const std::vector<T>& values, Json (*json_of)(const std::type_identity_t<T>&)) {
  Json list = Json::array();
  for (const T& value : values) list.push_back(json_of(value));
  return list;
}

}  // namespace stormcell
