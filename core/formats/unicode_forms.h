// Normal forms of Unicode text: NFD and NFC, and small letters.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace stormcell {

/// The text with each character in its canonical parts, marks in their canonical order (NFD). `text` is valid UTF-8.
std::string decomposed(std::string_view text);
/// The text with parts joined to characters again (NFC).
std::string composed(std::string_view text);
/// The text in small letters, character by character.
std::string small_letters(std::string_view text);

/// A character that has parts. `second` 0: it has one part. `composes`: its parts are joined to it again.
struct CharacterParts {
  char32_t code = 0, first = 0, second = 0;
  bool composes = false;
};
/// All such characters in their order, without the syllables of Hangul, which have a rule.
std::span<const CharacterParts> character_parts();
/// Runs of characters with one combining class: the first character of the run times 256, plus the class.
std::span<const uint32_t> combining_runs();
/// The small letter of a character; the character itself if it has none.
char32_t small_letter(char32_t code);

}  // namespace stormcell
