// Tokens outside the model's vocabulary of pieces that are found in the text as written: </s>, <extra_id_0>.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace stormcell {

struct AddedToken {
  int32_t id = 0;
  std::string content;
  bool special = false;             ///< not written when ids are decoded
  bool strip_left = false;          ///< takes the white space before it
  bool strip_right = false;         ///< and after it
  bool in_normalized_text = false;  ///< looked for after normalisation
  bool whole_word = false;          ///< not found beside characters of a word
};

class AddedTokens {
 public:
  explicit AddedTokens(std::vector<AddedToken> tokens = {});

  const std::vector<AddedToken>& tokens() const { return tokens_; }
  /// Null when no added token has this id.
  const AddedToken* find(int32_t id) const;

  /// A part of a text: a token, or (token null) text without one.
  using Part = std::function<void(std::string_view text, const AddedToken* token)>;
  /// Decides whether a token that was found at an offset of the text is one; if not, it is text.
  using Filter = std::function<bool(size_t at, const AddedToken& token)>;
  /// Calls `part` for every part of the text in order; the leftmost, then the longest token is taken. Without a filter
  /// every token counts.
  void split(std::string_view text, const Part& part, const Filter& counts = {}) const;

 private:
  const AddedToken* match(std::string_view text) const;

  std::vector<AddedToken> tokens_;
  std::array<std::vector<size_t>, 256> by_first_byte_;  // indices into tokens_, the longest first
  std::vector<size_t> by_id_;                           // indices into tokens_, the lowest id first
};

}  // namespace stormcell
