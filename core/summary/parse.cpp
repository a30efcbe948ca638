#include "core/summary/parse.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "core/base/run_kind.h"
#include "core/formats/json_fields.h"
#include "core/formats/json_file.h"
#include "core/summary/earlier_summaries.h"
#include "core/summary/exit_target.h"
#include "core/summary/fields.h"
#include "core/summary/stated_speedups.h"

namespace stormcell {
namespace {

constexpr size_t kMostFlips = 100;

class Reader;
template <class T>
concept ReadsFields = requires(Reader& reader, T& value) {
  fields(reader, value);
};

void read(const nlohmann::json& j, std::string& value) { value = j.is_string() ? j.get<std::string>() : std::string(); }
void read(const nlohmann::json& j, bool& value) { value = j.is_boolean() && j.get<bool>(); }
void read(const nlohmann::json& j, double& value) { value = j.is_number() ? j.get<double>() : 0; }
void read(const nlohmann::json& j, std::integral auto& value) {
  const int64_t whole = j.is_number_integer() ? j.get<int64_t>() : 0;
  value = std::in_range<std::remove_reference_t<decltype(value)>>(whole)
              ? static_cast<std::remove_reference_t<decltype(value)>>(whole)
              : 0;
}
bool is_interval(const nlohmann::json& j) {
  return j.is_array() && j.size() == 2 && j[0].is_number() && j[1].is_number();
}
void read(const nlohmann::json& j, std::array<double, 2>& value) {
  value = is_interval(j) ? std::array{j[0].get<double>(), j[1].get<double>()} : std::array<double, 2>{};
}
template <ReadsFields T>
void read(const nlohmann::json& j, T& value);

bool is_a(const nlohmann::json& j, const std::string*) { return j.is_string(); }
bool is_a(const nlohmann::json& j, const double*) { return j.is_number(); }
bool is_a(const nlohmann::json& j, const bool*) { return j.is_boolean(); }
bool is_a(const nlohmann::json& j, const std::integral auto*) { return j.is_number_integer(); }
bool is_a(const nlohmann::json& j, const std::array<double, 2>*) { return is_interval(j); }
bool is_a(const nlohmann::json& j, const ReadsFields auto*) { return j.is_object(); }

template <class T>
void read(const nlohmann::json& j, std::optional<T>& value) {
  value.reset();
  if (is_a(j, static_cast<const T*>(nullptr))) read(j, value.emplace());
}
template <class T>
void read(const nlohmann::json& j, std::vector<T>& values) {
  values.clear();
  if (!j.is_array()) return;
  for (const nlohmann::json& element : j)
    if (ReadsFields<T> || is_a(element, static_cast<const T*>(nullptr))) read(element, values.emplace_back());
}
template <class T>
void read(const nlohmann::json& j, std::map<std::string, T>& values) {
  values.clear();
  if (!j.is_object()) return;
  for (const auto& [key, element] : j.items())
    if (is_a(element, static_cast<const T*>(nullptr))) read(element, values[key]);
}

/// Reads the fields of a struct from an object (fields.h).
class Reader {
 public:
  explicit Reader(const nlohmann::json& from) : from_(from) {}

  void operator()(const char* key, auto& value, const Figure& = {}) { read(value_at(from_, key), value); }
  void schema(std::string& verb, std::string& version) {
    const std::string schema = text_at(from_, "schema");
    if (schema.starts_with("stormcell.")) verb = schema.substr(10, schema.find('/') - 10);
    version = text_at(from_, "version");
  }
  void schema(const char*, std::string& version) { version = text_at(from_, "version"); }
  void text_or_null(const char* key, std::string& text) { text = text_at(from_, key); }
  void infinite_or_null(const char* key, double& value, const Figure&) {
    const bool infinite = from_.is_object() && from_.contains(key) && value_at(from_, key).is_null();
    value = infinite ? std::numeric_limits<double>::infinity() : real_at(from_, key);
  }
  void null_unless(const char* key, auto& value, bool, const Figure& = {}) { read(value_at(from_, key), value); }
  void true_unless_said(const char* key, bool& value) {
    value = !value_at(from_, key).is_boolean() || flag_at(from_, key);
  }
  void minus_one_unless_said(const char* key, int64_t& value) {
    value = value_at(from_, key).is_number_integer() ? whole_at(from_, key) : -1;
  }
  void positive_or_null(const char* key, int64_t& value) { value = whole_at(from_, key); }
  void left_out_if_empty(const char* key, std::vector<std::string>& list) { read(value_at(from_, key), list); }
  template <class Enum>
  void word(const char* key, Enum& value, Enum (*meaning)(std::string_view)) {
    value = meaning(text_at(from_, key));
  }
  template <class Enum>
  void word(const char* key, std::optional<Enum>& value, Enum (*meaning)(std::string_view)) {
    value.reset();
    if (value_at(from_, key).is_string()) value = meaning(text_at(from_, key));
  }
  void withheld(const char* key, std::optional<SpeedupWithheld>& value) {
    value.reset();
    if (!value_at(from_, key).is_string()) return;
    const nlohmann::json& by = value_at(from_, (std::string(key) + kWithheldBy).c_str());
    value = SpeedupWithheld{withheld_reason(text_at(by, "reason")), real_at(by, "measured"), real_at(by, "of")};
  }
  void json(const char* key, std::string& text) {
    const nlohmann::json& value = value_at(from_, key);
    text = value.is_object() ? value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) : std::string();
  }
  void group(const char* key, auto members) {
    Reader group(value_at(from_, key));
    members(group);
  }
  void list(const char* key, auto& values, auto members) {
    values.clear();
    for (const nlohmann::json& element : list_at(from_, key)) {
      Reader reader(element);
      members(reader, values.emplace_back());
    }
  }
  template <class T>
  void shared(const char* key, std::shared_ptr<const T>& value) {
    value.reset();
    if (const nlohmann::json& object = value_at(from_, key); object.is_object()) {
      auto made = std::make_shared<T>();
      read(object, *made);
      value = std::move(made);
    }
  }
  void decoded(const char* key, std::vector<std::vector<int32_t>>& ids, std::vector<std::string>& texts) {
    ids.clear(), texts.clear();
    for (const nlohmann::json& sequence : list_at(from_, key)) {
      read(value_at(sequence, "ids"), ids.emplace_back());
      if (value_at(sequence, "text").is_string()) texts.push_back(text_at(sequence, "text"));
    }
  }
  void derived(const char*, const auto&, const Figure& = {}) {}

 private:
  const nlohmann::json& from_;
};

template <ReadsFields T>
void read(const nlohmann::json& j, T& value) {
  Reader reader(j);
  fields(reader, value);
}

void flatten(const nlohmann::json& j, const std::string& prefix, std::vector<NamedText>& lines) {
  if (lines.size() >= 400) return;
  if (j.is_object() && !j.empty()) {
    for (const auto& [key, value] : j.items()) flatten(value, prefix.empty() ? key : prefix + "." + key, lines);
  } else {
    lines.emplace_back(prefix, j.is_string() ? j.get<std::string>()
                                             : j.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  }
}

}  // namespace

std::vector<NamedText> flat_json(const std::string& json) {
  std::vector<NamedText> lines;
  const nlohmann::json j = json_or_null(json);
  if (j.is_object() && !j.empty()) flatten(j, "", lines);
  return lines;
}

std::shared_ptr<const Summary> parse_summary(const std::string& json) {
  const nlohmann::json j = json_or_null(json);
  if (!j.is_object()) return nullptr;
  auto summary = std::make_shared<Summary>();
  read(j, summary->figures);
  complete_earlier_summary(summary->figures);
  summary->figures = with_stated_speedups(std::move(summary->figures));
  if (auto& v = summary->figures.verified; v && v->listed.size() > kMostFlips) v->listed.resize(kMostFlips);
  if (run_kind(summary->figures.verb) == RunKind::generate) read(j, summary->generated.emplace());
  return summary;
}

}  // namespace stormcell
