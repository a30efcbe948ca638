#include "core/summary/summary_json.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/formats/json_file.h"
#include "core/summary/exit_target.h"
#include "core/summary/fields.h"
#include "core/summary/stated_speedups.h"

namespace stormcell {
namespace {
using Json = nlohmann::ordered_json;

std::string dumped(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

bool is_plain(const Json& value) {
  return std::none_of(value.begin(), value.end(), [](const Json& v) { return v.is_structured(); });
}

void write(const Json& value, size_t depth, std::string& out) {
  if (!value.is_structured() || value.empty() || (value.is_array() && is_plain(value))) {
    out += dumped(value);
    return;
  }
  const std::string indent(2 * depth + 2, ' ');
  out += value.is_object() ? "{" : "[";
  const char* separator = "\n";
  for (auto at = value.begin(); at != value.end(); ++at) {
    out += separator + indent;
    separator = ",\n";
    if (value.is_object()) out += dumped(at.key()) + ": ";
    write(*at, depth + 1, out);
  }
  out += "\n" + indent.substr(2) + (value.is_object() ? "}" : "]");
}

class Writer;
template <class T>
concept WritesFields = requires(Writer& writer, const T& value) {
  fields(writer, value);
};

template <class T>
Json json_of(const T& value);
template <class T>
Json json_of(const std::optional<T>& value) {
  return value ? json_of(*value) : Json();
}
template <class T>
Json json_of(const std::vector<T>& values) {
  Json list = Json::array();
  for (const T& value : values) list.push_back(json_of(value));
  return list;
}
template <class T>
requires(!std::is_convertible_v<T, Json>) Json json_of(const std::map<std::string, T>& values) {
  Json object = Json::object();
  for (const auto& [key, value] : values) object[key] = json_of(value);
  return object;
}

/// Writes the fields of a struct into an object (fields.h).
class Writer {
 public:
  explicit Writer(Json& into) : into_(into) {}

  void operator()(const char* key, const auto& value, const Figure& = {}) { into_[key] = json_of(value); }
  void schema(const std::string& verb, const std::string& version) {
    into_ = json_of_verb(verb);
    if (!version.empty()) into_["version"] = version;
  }
  void text_or_null(const char* key, const std::string& text) { into_[key] = stormcell::text_or_null(text); }
  void infinite_or_null(const char* key, double value, const Figure&) {
    into_[key] = value;
  }  // dump() makes null of what is not finite
  void null_unless(const char* key, const auto& value, bool is_stated, const Figure& = {}) {
    into_[key] = is_stated ? json_of(value) : Json();
  }
  void true_unless_said(const char* key, bool value) { into_[key] = value; }
  void minus_one_unless_said(const char* key, int64_t value) { into_[key] = value; }
  void positive_or_null(const char* key, int64_t value) { into_[key] = stormcell::positive_or_null(value); }
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
  void json(const char* key, const std::string& text) {
    into_[key] = json_or_null(text).is_null() ? Json() : Json::parse(text);
  }
  void group(const char* key, auto members) {
    Writer group(into_[key] = Json::object());
    members(group);
  }
  void list(const char* key, const auto& values, auto members) {
    Json& list = into_[key] = Json::array();
    for (const auto& value : values) {
      Writer element(list.emplace_back(Json::object()));
      members(element, value);
    }
  }
  template <class T>
  void shared(const char* key, const std::shared_ptr<const T>& value) {
    into_[key] = value ? json_of(*value) : Json();
  }
  void decoded(const char* key, const std::vector<std::vector<int32_t>>& ids, const std::vector<std::string>& texts) {
    Json& list = into_[key] = Json::array();
    for (size_t i = 0; i < ids.size(); ++i)
      list.push_back({{"ids", ids[i]}, {"text", i < texts.size() ? Json(texts[i]) : Json()}});
  }
  void derived(const char* key, const auto& value, const Figure& = {}) { into_[key] = json_of(value); }

 private:
  Json& into_;
};

template <class T>
Json json_of(const T& value) {
  if constexpr (WritesFields<T>) {
    Json object = Json::object();
    Writer writer(object);
    fields(writer, value);
    return object;
  } else {
    return Json(value);
  }
}

}  // namespace

std::string json_text(const Json& value) {
  std::string out;
  write(value, 0, out);
  return out + "\n";
}

Json json_of_verb(const std::string& verb) {
  return {{"schema", "stormcell." + verb + "/1"}, {"version", STORMCELL_VERSION}};
}

std::string to_json(const RunSummaryFigures& figures) { return json_text(json_of(with_stated_speedups(figures))); }
std::string to_json(const GenerateFigures& figures) { return json_text(json_of(figures)); }
std::string to_json(const ModelStructure& structure) { return json_text(json_of(structure)); }
std::string to_json(const ModelSheet& sheet) { return json_text(json_of(sheet)); }

std::string to_text(const SheetLack& lack) { return lack.where.empty() ? lack.what : lack.what + " " + lack.where; }

}  // namespace stormcell
