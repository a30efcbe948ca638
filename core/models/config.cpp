#include "core/models/config.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/listed_words.h"
#include "core/formats/file_text.h"
#include "core/formats/json_file.h"

namespace stormcell {
namespace {
std::string number_text(double value) {
  std::string text = nlohmann::json(value).dump();
  return text.ends_with(".0") ? text.substr(0, text.size() - 2) : text;
}
}  // namespace

const nlohmann::json* Config::at(std::string_view key) const {
  const auto find = [&](std::string_view name) {
    const auto found = object_.find(std::string(name));
    return found == object_.end() || found->is_null() ? nullptr : &*found;
  };
  if (const nlohmann::json* value = find(key)) return value;
  for (const ConfigKey& other : keys_)
    if (other.use == KeyUse::alias && other.value == key)
      if (const nlohmann::json* value = find(other.key)) return value;
  return nullptr;
}
bool Config::has(std::string_view key) const { return at(key) != nullptr; }

std::optional<Config> Config::part(std::string_view key) const {
  const nlohmann::json* value = at(key);
  if (!value) return {};
  if (!value->is_object()) refuse(key, "an object");
  Config inner(*value, where_);
  inner.prefix_ = prefix_ + std::string(key) + ".";
  return inner;
}

void Config::refuse(std::string_view key, std::string_view expected) const {
  const nlohmann::json* value = at(key);
  std::string came = value ? shown_json(*value) : "nothing";
  if (came.size() > 80) came = came.substr(0, 77) + "...";
  bad_input(where_, in_quotes(prefix_ + std::string(key)) + ": expected " + std::string(expected) + ", got " + came,
            "correct it in the file");
}

int64_t Config::integer(std::string_view key, int64_t otherwise, int64_t least, int64_t most) const {
  const nlohmann::json* value = at(key);
  if (!value) return otherwise;
  const std::string expected = "an integer from " + std::to_string(least) + " to " + std::to_string(most);
  if (!value->is_number_integer() ||
      (value->is_number_unsigned() && value->get<uint64_t>() > static_cast<uint64_t>(INT64_MAX)))
    refuse(key, expected);
  const auto n = value->get<int64_t>();
  if (n < least || n > most) refuse(key, expected);
  return n;
}

double Config::real(std::string_view key, double otherwise, double least, double most) const {
  const nlohmann::json* value = at(key);
  if (!value) return otherwise;
  const std::string expected = "a number from " + number_text(least) + " to " + number_text(most);
  if (!value->is_number()) refuse(key, expected);
  const double x = value->get<double>();
  if (!(x >= least && x <= most)) refuse(key, expected);
  return x;
}

bool Config::boolean(std::string_view key, bool otherwise) const {
  const nlohmann::json* value = at(key);
  if (!value) return otherwise;
  if (!value->is_boolean()) refuse(key, "true or false");
  return value->get<bool>();
}

std::string Config::word(std::string_view key, std::string_view otherwise) const {
  const nlohmann::json* value = at(key);
  if (!value) return std::string(otherwise);
  if (!value->is_string()) refuse(key, "a text");
  return value->get<std::string>();
}

std::string Config::word(std::string_view key, std::string_view otherwise,
                         const std::vector<std::string_view>& known) const {
  std::string came = word(key, otherwise);
  if (std::find(known.begin(), known.end(), came) != known.end()) return came;
  refuse(key, either(known));
}

std::vector<int32_t> Config::ids(std::string_view key, int64_t below) const {
  const nlohmann::json* value = at(key);
  if (!value) return {};
  std::vector<int32_t> list;
  const auto add = [&](const nlohmann::json& id) {
    if (!id.is_number_integer() || (id.is_number_unsigned() && id.get<uint64_t>() > static_cast<uint64_t>(INT32_MAX)) ||
        id.get<int64_t>() < -1 || id.get<int64_t>() >= below)
      refuse(key, "token ids below " + std::to_string(below));
    list.push_back(static_cast<int32_t>(id.get<int64_t>()));
  };
  if (value->is_array()) {
    for (const nlohmann::json& id : *value) add(id);
  } else {
    add(*value);
  }
  return list;
}

std::vector<int64_t> Config::integers(std::string_view key, int64_t least, int64_t most) const {
  const nlohmann::json* value = at(key);
  if (!value) return {};
  std::vector<int64_t> list;
  const auto add = [&](const nlohmann::json& number) {
    const bool fits = number.is_number_integer() &&
                      !(number.is_number_unsigned() && number.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX)) &&
                      number.get<int64_t>() >= least && number.get<int64_t>() <= most;
    if (!fits) refuse(key, "integers from " + std::to_string(least) + " to " + std::to_string(most));
    list.push_back(number.get<int64_t>());
  };
  if (value->is_array()) {
    for (const nlohmann::json& number : *value) add(number);
  } else {
    add(*value);
  }
  return list;
}

std::vector<int64_t> Config::integers_of_each(std::string_view key, std::vector<int64_t> otherwise, size_t count,
                                              std::string_view noun, int64_t least, int64_t most) const {
  std::vector<int64_t> given = integers(key, least, most);
  if (given.empty()) given = std::move(otherwise);
  if (given.size() == 1) given.resize(count, given.front());
  if (given.size() != count)
    refuse(key, "one number, or one for each of " + std::to_string(count) + " " + std::string(noun));
  return given;
}

std::vector<double> Config::reals(std::string_view key, bool (*fits)(double), std::string_view range) const {
  const nlohmann::json* value = at(key);
  if (!value) return {};
  std::vector<double> list;
  const auto add = [&](const nlohmann::json& number) {
    if (!number.is_number() || !fits(number.get<double>())) refuse(key, "numbers " + std::string(range));
    list.push_back(number.get<double>());
  };
  if (value->is_array()) {
    for (const nlohmann::json& number : *value) add(number);
  } else {
    add(*value);
  }
  return list;
}

std::vector<std::string> Config::words(std::string_view key) const {
  const nlohmann::json* value = at(key);
  if (!value) return {};
  if (!value->is_array()) refuse(key, "a list of texts");
  std::vector<std::string> list;
  for (const nlohmann::json& word : *value) {
    if (!word.is_string()) refuse(key, "a list of texts");
    list.push_back(word.get<std::string>());
  }
  return list;
}

std::vector<std::string> Config::names(std::string_view key, int64_t count) const {
  const nlohmann::json* value = at(key);
  if (!value) return {};
  const std::string expected = "a name for each number from 0 to " + std::to_string(count - 1);
  const size_t all = count;
  if (!value->is_structured() || value->size() != all) refuse(key, expected);
  std::vector<std::string> list;
  std::map<std::string, int> given;
  for (size_t n = 0; n < all; ++n) {
    const auto found =
        value->is_array() ? value->begin() + static_cast<std::ptrdiff_t>(n) : value->find(std::to_string(n));
    if (found == value->end() || !found->is_string() || found->get<std::string>().empty()) refuse(key, expected);
    ++given[list.emplace_back(found->get<std::string>())];
  }
  for (size_t n = 0; n < all; ++n)
    if (given[list[n]] > 1) list[n] += " (" + std::to_string(n) + ")";
  return list;
}

}  // namespace stormcell
