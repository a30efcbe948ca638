#include "core/formats/base64.h"

#include <cstdint>

namespace stormcell {
namespace {
int value_of(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}
}  // namespace

std::optional<std::string> decode_base64(std::string_view text) {
  if (text.size() % 4 != 0) return {};
  size_t padding = 0;
  while (padding < 2 && text.ends_with('=')) {
    text.remove_suffix(1);
    ++padding;
  }
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3 + 2);
  uint32_t pending = 0;
  int bits = 0;
  for (const char c : text) {
    const int value = value_of(c);
    if (value < 0) return {};
    pending = (pending << 6 | static_cast<uint32_t>(value)) & 0xFFFFFF;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes += static_cast<char>(pending >> bits & 0xFF);
  }
  return bytes;
}

}  // namespace stormcell
