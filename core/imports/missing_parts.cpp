#include "core/imports/missing_parts.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "core/base/listed_words.h"
#include "core/base/missing_numbers.h"
#include "core/formats/file_text.h"
#include "core/formats/unfinished_download.h"

namespace stormcell {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 8> kFromZero = {"rank", "dp", "tp", "ep", "pp", "gpu", "worker", "device"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The number that distinguishes a file name from the others of its set.
struct Numbered {
  std::string before, behind;
  int64_t number = 0;
  size_t digits = 0;
};

std::vector<Numbered> numbers_in(std::string_view name) {
  constexpr size_t kMostDigits = 9;  // numbers with more digits are times
  std::vector<Numbered> all;
  for (size_t at = 0; at < name.size(); ++at) {
    if (!is_digit(name[at])) continue;
    size_t end = at;
    while (end < name.size() && is_digit(name[end])) ++end;
    if (end - at <= kMostDigits) {
      Numbered one{std::string(name.substr(0, at)), std::string(name.substr(end)), 0, end - at};
      std::from_chars(name.data() + at, name.data() + end, one.number);
      all.push_back(std::move(one));
    }
    at = end;
  }
  return all;
}

bool begins_with_zero(std::string_view before) {
  while (before.ends_with('_') || before.ends_with('-') || before.ends_with('.')) before.remove_suffix(1);
  const auto ends_before = [&](std::string_view word) {
    return before.ends_with(word) &&
           (before.size() == word.size() || !((before[before.size() - word.size() - 1] | 0x20) >= 'a' &&
                                              (before[before.size() - word.size() - 1] | 0x20) <= 'z'));
  };
  return std::any_of(kFromZero.begin(), kFromZero.end(), ends_before);
}

/// Reads 4 from "-of-00004.jsonl".
std::optional<int64_t> all_of(std::string_view behind) {
  for (const std::string_view of : {"-of-", "_of_", "of"}) {
    if (!behind.starts_with(of)) continue;
    int64_t all = 0;
    const auto [end, error] = std::from_chars(behind.data() + of.size(), behind.data() + behind.size(), all);
    if (error == std::errc() && all > 0 && all <= 100000) return all;
  }
  return {};
}

struct Set {
  std::set<int64_t> numbers;
  size_t digits = 0;  ///< digits of every number; 0: the numbers of digits differ
};

std::string name_of(const std::pair<std::string, std::string>& around, const Set& set, int64_t number) {
  std::string digits = std::to_string(number);
  if (digits.size() < set.digits) digits.insert(0, set.digits - digits.size(), '0');
  return around.first + digits + around.second;
}

std::string missing_of(const std::pair<std::string, std::string>& around, const Set& set) {
  std::set<int64_t> there = set.numbers;
  int64_t first = begins_with_zero(around.first) ? 0 : *there.begin();
  const auto all = all_of(around.second);
  if (all) {
    first = there.contains(0) ? 0 : 1;
    there.insert(first + *all);  // one beyond the last, so that missing last files are found too
  }
  const std::vector<int64_t> missing = missing_numbers(there, first);
  // the list ends at kMostMissing numbers
  const int64_t missing_count = *there.rbegin() + 1 - first - std::ssize(there);
  if (missing.empty() || (!all && (set.numbers.size() < 2 ||
                                   (!begins_with_zero(around.first) && missing_count > std::ssize(set.numbers)))))
    return {};
  constexpr size_t kMostNamed = 4;
  const auto names_of = [&](const auto& numbers, size_t most) {
    std::vector<std::string> names;
    for (const int64_t number : numbers)
      if (names.size() < most) names.push_back(name_of(around, set, number));
    return names;
  };
  const std::string there_are = set.numbers.size() == 2 ? joined(names_of(set.numbers, 2), " and ")
                                                        : listed(names_of(set.numbers, 1), 1, set.numbers.size());
  return listed(names_of(missing, kMostNamed), kMostNamed, static_cast<size_t>(missing_count)) +
         (missing.size() == 1 ? " is" : " are") + " missing beside " + there_are;
}

}  // namespace

std::string missing_ranks(const std::set<int64_t>& ranks) {
  if (ranks.size() < 2) return {};
  const std::string text = missing_text("rank", ranks, 0);
  if (text.empty()) return {};
  return text + ", by the largest rank that is there, " + std::to_string(*ranks.rbegin()) +
         ": the loads count the other ranks only";
}

std::vector<std::string> missing_files(const std::vector<std::string>& paths) {
  std::map<std::pair<std::string, std::string>, Set> sets;
  for (const std::string& path : paths) {
    const fs::path file(path);
    const std::string folder = file.parent_path().empty() ? "" : file.parent_path().string() + "/";
    for (const Numbered& n : numbers_in(file.filename().string())) {
      Set& set = sets[{folder + n.before, n.behind}];
      set.digits = set.numbers.empty() || set.digits == n.digits ? n.digits : 0;
      set.numbers.insert(n.number);
    }
  }
  std::vector<std::string> missing;
  for (const auto& [around, set] : sets)
    if (set.numbers.size() > 1 || all_of(around.second))
      if (std::string one = missing_of(around, set); !one.empty()) missing.push_back(std::move(one));
  return missing;
}

bool is_dead_link(const std::string& path) {
  std::error_code none;
  return fs::is_symlink(path, none) && !fs::exists(path, none);
}

std::string why_unfinished(const std::string& path) {
  std::error_code none;
  if (is_dead_link(path)) return "is a link that leads nowhere, to " + in_quotes(fs::read_symlink(path, none).string());
  if (has_unfinished_ending(fs::path(path).filename().string())) return "is a download that is not finished";
  if (fs::is_regular_file(path, none) && fs::file_size(path, none) == 0) return "is empty";
  return {};
}

}  // namespace stormcell
