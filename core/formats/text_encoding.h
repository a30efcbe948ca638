// How a text that came from elsewhere is encoded: UTF-8 is read, with a byte order mark or without; others are named.
#pragma once
#include <string_view>

namespace stormcell {

/// UTF-16 or UTF-32, by the byte order mark or by the zero bytes of its first letters; empty: neither.
std::string_view wide_encoding(std::string_view text);
/// The text behind its byte order mark, where it has one. Error(bad_input) that begins with `where`: UTF-16 or UTF-32.
std::string_view utf8_text(std::string_view text, std::string_view where);

}  // namespace stormcell
