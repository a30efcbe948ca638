#include "core/base/missing_numbers.h"

#include <algorithm>

#include "core/base/counted.h"

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
  std::string text = noun_for(std::ssize(numbers), one) + " ";
  const size_t named = numbers.size() <= kMostNamed ? numbers.size() : kMostNamed - 1, more = numbers.size() - named;
  for (size_t i = 0; i < named; ++i) text += (i == 0 ? "" : i + 1 == named && more == 0 ? " and " : ", ") + std::to_string(numbers[i]);
  return more > 0 ? text + " and " + std::to_string(more) + " more" : text;
}

}  // namespace stormcell
