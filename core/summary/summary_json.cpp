#include "core/summary/summary_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/formats/json_file.h"
#include "core/summary/exit_target.h"
#include "core/summary/field_writer.h"
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

}  // namespace

std::string json_text(const Json& value) {
  std::string out;
  write(value, 0, out);
  return out + "\n";
}

Json json_of_verb(const std::string& verb) {
  return {{"schema", "stormcell." + verb + "/1"}, {"version", STORMCELL_VERSION}};
}

void begin_verb(Json& into, const std::string& verb, const std::string& version) {
  into = json_of_verb(verb);
  if (!version.empty()) into["version"] = version;
}

void read_into(Json& into, const std::string& text) {
  into = json_or_null(text).is_null() ? Json() : Json::parse(text);
}

std::string to_json(const RunSummaryFigures& figures) { return json_text(fields_json(with_stated_speedups(figures))); }
std::string to_json(const GenerateFigures& figures) { return json_text(fields_json(figures)); }
std::string to_json(const ModelStructure& structure) { return json_text(fields_json(structure)); }
std::string to_json(const ModelSheet& sheet) { return json_text(fields_json(sheet)); }

std::string to_text(const SheetLack& lack) { return lack.where.empty() ? lack.what : lack.what + " " + lack.where; }

}  // namespace stormcell
