#include "core/summary/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include "core/base/error.h"
#include "core/base/nearest_words.h"
#include "core/base/number_format.h"
#include "core/base/numbers.h"
#include "core/base/run_kind.h"
#include "core/summary/exit_target.h"
#include "core/summary/split_rule.h"

namespace stormcell {
namespace {

constexpr const char* kBytesAdvice =
    "give a number above 0, of bytes or with B, kB, MB, GB, TB, KiB, MiB, GiB or TiB: 4GiB";

/// The value in the type of the field, if it fits there.
template <class T>
std::optional<T> read(const nlohmann::json& j) {
  if constexpr (std::is_same_v<T, std::string>) {
    return j.is_string() ? std::optional(j.get<std::string>()) : std::nullopt;
  } else if constexpr (std::is_same_v<T, bool>) {
    return j.is_boolean() ? std::optional(j.get<bool>()) : std::nullopt;
  } else if constexpr (std::is_same_v<T, std::optional<double>>) {
    return j.is_number() ? std::optional(T(j.get<double>())) : std::nullopt;
  } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
    if (!j.is_array() || !std::all_of(j.begin(), j.end(), [](const nlohmann::json& item) { return item.is_string(); }))
      return {};
    return j.get<T>();
  } else if constexpr (std::is_same_v<T, double>) {
    return j.is_number() ? std::optional(j.get<double>()) : std::nullopt;
  } else {
    if (!j.is_number_integer()) return {};
    const bool fits = j.is_number_unsigned() ? std::in_range<T>(j.get<uint64_t>()) : std::in_range<T>(j.get<int64_t>());
    return fits ? std::optional(j.get<T>()) : std::nullopt;
  }
}

template <class T>
nlohmann::json setting_json(const T& value) {
  return value;
}
nlohmann::json setting_json(const std::optional<double>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json();
}

/// One word for each time that the option occurs; an empty one for a flag.
template <class T>
std::vector<std::string> words_of(const T& value) {
  if constexpr (std::is_same_v<T, std::vector<std::string>>)
    return value;
  else if constexpr (std::is_same_v<T, bool>)
    return {std::string()};
  else if constexpr (std::is_same_v<T, std::optional<double>>)
    return {value ? fmt::format("{}", *value) : std::string()};
  else if constexpr (std::is_same_v<T, std::string>)
    return {value};
  else
    return {fmt::format("{}", value)};  // reals: the shortest text that reads back as the same number
}

}  // namespace

void check_dtype(std::string_view dtype) {
  const std::vector<std::string> offered = offered_formats();
  if (std::find(offered.begin(), offered.end(), dtype) != offered.end()) return;
  bad_input("--dtype",
            "\"" + std::string(dtype) + "\"" +
                (dtype == "int8" ? ": not in this version" : " is not a number format to compute in"),
            advice_on_word(dtype, offered, ""));
}

void check_phase(std::string_view phase) {
  if (work_phase(phase) == WorkPhase::unknown)
    bad_input("--phase", "\"" + std::string(phase) + "\" is not a phase",
              advice_on_word(phase, {"forward", "decode", "both"}, ""));
}

void check_profile_split(std::string_view rule) {
  if (split_rule(rule) != SplitRule::unknown) return;
  bad_input(
      "--profile-split", "\"" + std::string(rule) + "\" is not a way to split",
      advice_on_word(rule, {std::string(to_text(SplitRule::strided)), std::string(to_text(SplitRule::first))}, ""));
}

void check_date(std::string_view date) {
  const auto is_digit = [&](size_t at) { return date[at] >= '0' && date[at] <= '9'; };
  bool is_date = date.size() == 10 && date[4] == '-' && date[7] == '-';
  for (const size_t at : {0, 1, 2, 3, 5, 6, 8, 9}) is_date = is_date && is_digit(at);
  if (!is_date) bad_input("--date", "\"" + std::string(date) + "\" is no date", "give it as 2026-08-05");
}

void check_target_quality(std::string_view word) { parse_quality_target(word); }

void check_target_latency(std::string_view word) { parse_latency_target(word); }

void read_word(const Setting& s, const std::string& word, ExperimentOptions& options) {
  std::visit(
      [&](auto field) {
        auto& value = options.*field;
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, bool>) {
          value = true;
        } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
          value.push_back(word);
        } else if constexpr (std::is_same_v<T, std::string>) {
          if (word.empty()) bad_input(s.name(), "is empty");
          if (s.check) s.check(word);
          value = word;
        } else if constexpr (std::is_same_v<T, std::optional<double>>) {
          value = bounded_number<double>(s.option, word, s.bounds);
        } else if (s.value == kByteValue) {
          const std::optional<Bytes> bytes = parse_bytes(word);
          if (!bytes) bad_input(s.option, "\"" + word + "\" is not a number of bytes", kBytesAdvice);
          if (static_cast<double>(bytes->value) < s.bounds.least)
            bad_input(s.option, "\"" + word + "\" is too little", kBytesAdvice);
          value = static_cast<T>(bytes->value);
        } else {
          value = bounded_number<T>(s.option, word, s.bounds);
        }
      },
      s.field);
}

void check(const ExperimentOptions& options) {
  const ExperimentOptions standard;
  for (const Setting& s : kSettings)
    std::visit(
        [&](auto field) {
          const auto& value = options.*field;
          using T = std::decay_t<decltype(value)>;
          if (value == standard.*field) return;
          if constexpr (std::is_same_v<T, std::string>) {
            if (s.check) s.check(value);
          } else if constexpr (std::is_same_v<T, std::optional<double>>) {
            check_bounds(s.option, *value, s.bounds);
          } else if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
            check_bounds(s.option, value, s.bounds);
          }
        },
        s.field);
}

bool Setting::is_of(std::string_view verb) const {
  return verbs.empty() || (" " + std::string(verbs) + " ").find(" " + std::string(verb) + " ") != std::string::npos;
}

std::string settings_json(const ExperimentOptions& options) {
  nlohmann::json j = {{"version", STORMCELL_VERSION}};
  for (const Setting& s : kSettings)
    std::visit([&](auto field) { j[std::string(s.key)] = setting_json(options.*field); }, s.field);
  return j.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::optional<ExperimentOptions> parse_settings(const std::string& json) {
  const nlohmann::json j = nlohmann::json::parse(json, nullptr, false);
  if (!j.is_object()) return {};
  ExperimentOptions options;
  for (const Setting& s : kSettings)
    if (const auto at = j.find(s.key); at != j.end())
      std::visit(
          [&](auto field) {
            using T = std::decay_t<decltype(options.*field)>;
            if (auto value = read<T>(*at)) options.*field = std::move(*value);
          },
          s.field);
  if (options.model.empty()) return {};
  return options;
}

std::vector<std::string> command_words(const ExperimentOptions& options, std::string_view verb) {
  const ExperimentOptions standard;
  std::vector<std::string> words;
  for (const Setting& s : kSettings)
    std::visit(
        [&](auto field) {
          if (!s.is_of(verb) || options.*field == standard.*field) return;
          for (std::string& word : words_of(options.*field)) {
            if (!s.option.empty()) words.emplace_back(s.option);
            if constexpr (!std::is_same_v<std::decay_t<decltype(options.*field)>, bool>)
              words.push_back(std::move(word));
          }
        },
        s.field);
  return words;
}

}  // namespace stormcell
