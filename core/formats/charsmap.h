// SentencePiece's precompiled_charsmap: a table of normalisation rules as a double-array trie over UTF-8 bytes.
// Layout: u32 bytes of the trie, the units of the trie (u32), the replacements as zero-terminated strings.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stormcell {

class CharsMap {
 public:
  /// Checks the whole table: every transition stays inside, no path is endless or meets more rules than readers have
  /// room for, every replacement is ended and valid UTF-8. After that any reader may use it on any text. Empty: no
  /// rules.
  CharsMap(std::string_view table, const std::string& where);

  /// The replacement that the shortest rule matching a prefix of the text gives.
  std::optional<std::string_view> shortest_match(std::string_view text) const;

  /// A table without rules; the library logs to stderr when it is given none at all.
  static std::string without_rules();

 private:
  uint32_t next(uint32_t node, unsigned char byte) const;
  void check_trie(const std::string& where) const;

  std::vector<uint32_t> units_;
  std::string replacements_;
};

}  // namespace stormcell
