// Guesses the type of ids in base64 if they are not int32, well enough for a message.
#pragma once
#include <string_view>

namespace stormcell {

/// "base85", "URL-safe base64" or "base64 without its padding"; empty: it looks like none of them.
std::string_view text_encoding_like(std::string_view text);
/// "float32", "big-endian int32", "int16" or "uint8", for bytes that are no ids as int32.
std::string_view id_type_like(std::string_view bytes);
/// True if the bytes look like int64: every second int32 is 0, or -1 after -1. Eight ids at least, not all zero.
bool is_like_int64(std::string_view bytes);

}  // namespace stormcell
