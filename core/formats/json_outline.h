// Reads the outermost shape and keys of JSON from its first bytes alone; the JSON may be cut anywhere.
#pragma once
#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace stormcell {

struct JsonOutline {
  enum class Shape { none, object, list, lines };

  Shape shape = Shape::none;      ///< none: it is not JSON, as far as the head shows
  bool lists_lists = false;       ///< the first element of the list is a list
  std::vector<std::string> keys;  ///< keys of the object, of the first line, or of the first object of the list
  std::map<std::string, std::string, std::less<>> texts;  ///< the values that are short texts, by key

  bool has(std::string_view key) const { return std::find(keys.begin(), keys.end(), key) != keys.end(); }
  /// The text of a key; empty: there is none.
  std::string_view text(std::string_view key) const {
    const auto at = texts.find(key);
    return at == texts.end() ? std::string_view() : std::string_view(at->second);
  }
};

/// Accepts any bytes. Escapes in keys and texts stay as they are. Reads at most 200 keys.
JsonOutline outline_json(std::string_view head);

}  // namespace stormcell
