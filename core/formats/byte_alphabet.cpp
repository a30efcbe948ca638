// The table of GPT-2: bytes that are printable in Latin-1 stand for themselves, the other 68 are U+0100 and on.
#include "core/formats/byte_alphabet.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "core/formats/file_text.h"
#include "core/formats/unicode.h"

namespace stormcell {
namespace {
constexpr size_t kByteCharacters = 256 + 68;

bool stands_for_itself(int byte) { return (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174; }

struct ByteAlphabet {
  std::array<std::string, 256> characters;
  std::array<int, kByteCharacters> bytes;  // by character; -1: stands for none

  ByteAlphabet() {
    bytes.fill(-1);
    char32_t next = 256;
    for (int byte = 0; byte < 256; ++byte) {
      const char32_t code = stands_for_itself(byte) ? static_cast<char32_t>(byte) : next++;
      append_character(characters[byte], code);
      bytes[code] = byte;
    }
  }
};
const ByteAlphabet& byte_alphabet() {
  static const ByteAlphabet alphabet;
  return alphabet;
}

/// Bytes of the beginning of `text` that one U+FFFD replaces: the longest beginning of a character, at least one byte.
size_t broken_size(std::string_view text) {
  const auto byte = [&](size_t i) -> unsigned { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0; };
  const unsigned lead = byte(0);
  size_t whole = 1;
  unsigned least = 0x80, most = 0xBF;  // of the second byte
  if (lead >= 0xC2 && lead <= 0xDF) whole = 2;
  if (lead >= 0xE0 && lead <= 0xEF) {
    whole = 3;
    if (lead == 0xE0) least = 0xA0;
    if (lead == 0xED) most = 0x9F;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    whole = 4;
    if (lead == 0xF0) least = 0x90;
    if (lead == 0xF4) most = 0x8F;
  }
  size_t size = 1;
  while (size < whole && byte(size) >= least && byte(size) <= most) {
    ++size;
    least = 0x80, most = 0xBF;
  }
  return size;
}
}  // namespace

std::string characters_of_bytes(std::string_view bytes) {
  std::string characters;
  characters.reserve(bytes.size() + bytes.size() / 4);
  for (const char byte : bytes) characters += byte_alphabet().characters[static_cast<unsigned char>(byte)];
  return characters;
}

void add_bytes_of_characters(std::string_view piece, std::string& bytes) {
  const size_t begin = bytes.size();
  for (size_t at = 0; at < piece.size();) {
    const Character c = first_character(piece.substr(at));
    const int byte = c.code < kByteCharacters ? byte_alphabet().bytes[c.code] : -1;
    if (byte < 0) {
      bytes.resize(begin);
      bytes += piece;
      return;
    }
    bytes += static_cast<char>(static_cast<unsigned char>(byte));
    at += c.size;
  }
}

std::string text_of_bytes(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    const size_t invalid = std::min(find_invalid_utf8(bytes), bytes.size());
    text += bytes.substr(0, invalid);
    bytes.remove_prefix(invalid);
    if (bytes.empty()) break;
    text += "\uFFFD";
    bytes.remove_prefix(std::min(broken_size(bytes), bytes.size()));
  }
  return text;
}

}  // namespace stormcell
