// Recognises the encoding of a text: UTF-8, with a byte order mark or without, is read; others are refused by name.
#pragma once
#include <string_view>

namespace stormcell {

/// UTF-16 or UTF-32, by the byte order mark or by the zero bytes of its first letters; empty: neither.
std::string_view wide_encoding(std::string_view text);
/// The text without the byte order mark of UTF-8.
std::string_view without_mark(std::string_view text);
/// The same. Error(bad_input) that begins with `where` if it is UTF-16 or UTF-32.
std::string_view utf8_text(std::string_view text, std::string_view where);

}  // namespace stormcell
