#include "core/traces/json_values.h"

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/formats/json_fields.h"
#include "core/formats/json_file.h"
#include "core/traces/json_cursor.h"

namespace stormcell {
namespace {
constexpr size_t kMostShown = 40;  // characters of a wrong value
}

void JsonRow::wrong_value(const std::string& what) const {
  const std::string line = "line " + std::to_string(line_);
  bad_input(path_, line + ": " + what, "correct " + line + ", or " + JsonCursor::kRecordAgain);
}
void JsonRow::wrong(const std::string& what) const {
  bad_input(path_, "line " + std::to_string(line_) + ": " + what, JsonCursor::kRecordAgain);
}

int64_t JsonRow::whole(const char* key, int64_t least, int64_t most) const {
  const nlohmann::json& v = value_at(value_, key);
  if (!whole_value(v) && !v.is_number_integer()) wrong_value(std::string(key) + " is not a whole number");
  return within(v, key, least, most);
}

bool JsonRow::has(const char* key) const { return !value_at(value_, key).is_null(); }

std::vector<int64_t> JsonRow::matrix(const char* key, int64_t rows, int64_t least, int64_t most,
                                     int64_t& columns) const {
  const nlohmann::json& list = value_at(value_, key);
  if (!list.is_array() || (rows >= 0 && std::ssize(list) != rows))
    wrong(std::string(key) + " is not a list of " + (rows >= 0 ? std::to_string(rows) + " " : "") + "lists");
  std::vector<int64_t> all;
  columns = list.empty() || !list[0].is_array() ? 0 : std::ssize(list[0]);
  for (const nlohmann::json& row : list) {
    if (!row.is_array() || std::ssize(row) != columns) wrong(std::string(key) + " has rows of different lengths");
    for (const nlohmann::json& v : row) {
      if (!whole_value(v) && !v.is_number_integer())
        wrong_value(std::string(key) +
                    " holds something that is not a whole number: " + shown_json(v).substr(0, kMostShown));
      all.push_back(within(v, key, least, most));
    }
  }
  return all;
}

int64_t JsonRow::within(const nlohmann::json& v, const std::string& name, int64_t least, int64_t most) const {
  const std::optional<int64_t> value = whole_value(v);
  if (!value || *value < least || *value > most)
    wrong_value(name + " is " + v.dump() + ", " + std::to_string(least) + " to " + std::to_string(most) +
                " are allowed");
  return *value;
}

}  // namespace stormcell
