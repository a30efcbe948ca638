// The few properties of Unicode characters that tokenizers ask for.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace stormcell {

/// One character of valid UTF-8.
struct Character {
  char32_t code = 0;
  size_t size = 0;  ///< bytes
};
/// The first character; `text` is valid UTF-8 and not empty.
Character first_character(std::string_view text);
/// The last character.
Character last_character(std::string_view text);

/// Writes a character as UTF-8.
void append_character(std::string& text, char32_t code);

/// General categories as far as patterns of tokenizers distinguish them; `other` has white space and controls.
enum class CharacterClass : uint8_t {
  other,
  upper,
  lower,
  title,
  modifier,  ///< modifier letters
  letter,    ///< letters without case
  mark,
  number,
  punctuation,
  symbol
};
CharacterClass class_of(char32_t code);
/// A character that may stand within a word (\w).
bool is_word_character(char32_t code);

/// The property White_Space.
bool is_white_space(char32_t code);
/// The text without white space at its begin or end.
std::string_view trim_left(std::string_view text);
std::string_view trim_right(std::string_view text);

/// Bytes of the first extended grapheme cluster (UAX #29), except that sequences of Hangul letters, of emoji and of
/// flags come in parts: good enough to distinguish clusters of less than 6 bytes from longer ones.
size_t grapheme_size(std::string_view text);

}  // namespace stormcell
