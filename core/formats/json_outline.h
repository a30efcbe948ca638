// The outermost shape of JSON that may be cut anywhere: which keys it has, seen from its first bytes alone.
#pragma once
#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace stormcell {

struct JsonOutline {
  enum class Shape { none, object, list, lines };

  Shape shape = Shape::none;                              ///< none: it is no JSON as far as that is seen
  bool lists_lists = false;                               ///< the first element of the list is a list
  std::vector<std::string> keys;                          ///< of the object, of the first line, of the first object of the list
  std::map<std::string, std::string, std::less<>> texts;  ///< values of those keys that are short texts

  bool has(std::string_view key) const { return std::find(keys.begin(), keys.end(), key) != keys.end(); }
  /// Empty where there is no such text.
  std::string_view text(std::string_view key) const {
    const auto at = texts.find(key);
    return at == texts.end() ? std::string_view() : std::string_view(at->second);
  }
};

/// Any bytes may come. Escapes in keys and texts are left as they are. At most 200 keys are named.
JsonOutline outline_json(std::string_view head);

}  // namespace stormcell
