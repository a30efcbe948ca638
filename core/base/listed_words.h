// Lists as sentences have them: "a, b, c".
#pragma once
#include <string>
#include <string_view>

namespace stormcell {

/// One word more at the end of a list.
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

}  // namespace stormcell
