#include "core/base/missing_numbers.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "core/base/counted.h"
#include "core/base/listed_words.h"

namespace stormcell {

std::vector<int64_t> missing_numbers(const std::set<int64_t>& there, int64_t first) {
  std::vector<int64_t> missing;
  for (const int64_t number : there) {
    for (; first < number && missing.size() < kMostMissing; ++first) missing.push_back(first);
    first = std::max(first, number + 1);
  }
  return missing;
}

std::string numbered(std::string_view one, const std::vector<int64_t>& numbers) {
  constexpr size_t kMostNamed = 8;
  std::vector<std::string> words;
  for (const int64_t number : numbers) words.push_back(std::to_string(number));
  const std::string noun = noun_for(std::ssize(numbers), one) + " ";
  if (words.size() > kMostNamed) return noun + listed(words, kMostNamed - 1);
  std::string list;
  for (size_t i = 0; i < words.size(); ++i) add_to_list(list, words[i], i + 1 == words.size() ? " and " : ", ");
  return noun + list;
}

std::string missing_text(std::string_view one, const std::set<int64_t>& there, int64_t first) {
  const std::vector<int64_t> missing = missing_numbers(there, first);
  if (missing.empty()) return {};
  // The list ends at kMostMissing numbers.
  const int64_t all = *there.rbegin() + 1 - first - std::ssize(there);
  if (all == std::ssize(missing)) return numbered(one, missing) + (all == 1 ? " is missing" : " are missing");
  return counted(all, one) + " from " + std::string(one) + " " + std::to_string(missing[0]) + " on are missing";
}

std::string gaps_text(std::string_view one, const std::set<int64_t>& there) {
  if (there.size() < 2) return {};
  int64_t usual = 1;  // distance of two numbers
  if (there.size() > 2) {
    usual = INT64_MAX;
    for (auto at = there.begin(), next = std::next(at); next != there.end(); ++at, ++next)
      usual = std::min(usual, *next - *at);
  }
  std::string first;
  int64_t gaps = 0;
  for (auto at = there.begin(), next = std::next(at); next != there.end(); ++at, ++next)
    if (*next - *at > usual && gaps++ == 0)
      first = "no " + std::string(one) + " between " + std::to_string(*at) + " and " + std::to_string(*next);
  return gaps < 2 ? first : first + " and " + counted(gaps - 1, "more gap");
}

}  // namespace stormcell
