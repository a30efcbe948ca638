// Lists as sentences have them: "a, b, c".
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/counted.h"

namespace stormcell {

/// Adds a word to the end of a list.
inline void add_to_list(std::string& list, std::string_view word, std::string_view between = ", ") {
  if (!list.empty()) list += between;
  list += word;
}

/// All words of a range.
template <class Words>
std::string joined(const Words& words, std::string_view between = ", ") {
  std::string list;
  for (const auto& word : words) add_to_list(list, word, between);
  return list;
}

/// All words of a range as alternatives: "a, b or c".
template <class Words>
std::string either(const Words& words) {
  std::string list;
  for (size_t i = 0; i < words.size(); ++i) add_to_list(list, words[i], i + 1 == words.size() ? " or " : ", ");
  return list;
}

/// The first `most` words of a range, and the number of the others: "a, b, c and 2 more". `all` is the number of words
/// if the range has only the first of them.
template <class Words>
std::string listed(const Words& words, size_t most, size_t all = 0) {
  std::string list;
  size_t count = 0;
  for (const auto& word : words)
    if (++count <= most) add_to_list(list, word);
  if (all > count) count = all;
  return count > most ? list + " and " + with_commas(static_cast<int64_t>(count - most)) + " more" : list;
}

}  // namespace stormcell
