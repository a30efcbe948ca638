// The alphabet of byte-level vocabularies: a printable character stands for each byte.
#pragma once
#include <string>
#include <string_view>

namespace stormcell {

/// The characters that stand for the bytes of a text.
std::string characters_of_bytes(std::string_view bytes);
/// Adds the bytes that a piece stands for. A piece with a character that stands for no byte is added as it is.
void add_bytes_of_characters(std::string_view piece, std::string& bytes);
/// The bytes as text: each broken sequence becomes one U+FFFD.
std::string text_of_bytes(std::string_view bytes);

}  // namespace stormcell
