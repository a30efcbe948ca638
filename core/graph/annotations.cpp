#include "core/graph/annotations.h"

#include <algorithm>

#include "core/base/text_names.h"

namespace stormcell {

const std::string* Annotations::find(std::string_view key) const {
  for (const auto& [k, word] : list_)
    if (k == key) return &word;
  return nullptr;
}
void Annotations::set(std::string_view key, std::string_view word) {
  const auto at = std::find_if(list_.begin(), list_.end(), [&](const auto& a) { return a.first >= key; });
  if (at != list_.end() && at->first == key) {
    at->second = std::string(word);
  } else {
    list_.emplace(at, std::string(key), std::string(word));
  }
}

std::string to_text(const Annotations& annotations) {
  std::string text;
  for (const auto& [key, word] : annotations) text += " @" + text_name(key) + "=" + text_name(word);
  return text;
}

}  // namespace stormcell
