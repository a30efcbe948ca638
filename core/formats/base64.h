// Base64 (RFC 4648, section 4).
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace stormcell {

/// Empty when the text is not padded base64.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace stormcell
