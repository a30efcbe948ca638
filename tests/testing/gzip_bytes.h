// Makes gzip files (RFC 1952) byte by byte, so that they can have defects. The contents are stored, not compressed.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace stormcell::testing {

inline uint32_t crc32_of(std::string_view bytes) {
  uint32_t crc = 0xFFFFFFFF;
  for (const char c : bytes) {
    crc ^= static_cast<uint8_t>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320 : 0);
  }
  return ~crc;
}

/// One member of a gzip file.
inline std::string gzip_of(std::string_view bytes) {
  std::string file("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
  const auto put = [&](uint32_t value, int count) {
    for (int i = 0; i < count; ++i) file += static_cast<char>(value >> (8 * i));
  };
  constexpr size_t kMostStored = 65535;
  std::string_view rest = bytes;
  do {
    const std::string_view block = rest.substr(0, kMostStored);
    rest.remove_prefix(block.size());
    const auto size = static_cast<uint32_t>(block.size());
    put(rest.empty() ? 1 : 0, 1), put(size, 2), put(~size, 2);
    file += block;
  } while (!rest.empty());
  put(crc32_of(bytes), 4), put(static_cast<uint32_t>(bytes.size()), 4);
  return file;
}

}  // namespace stormcell::testing
