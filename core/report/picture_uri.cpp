#include "core/report/picture_uri.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace stormcell::report {
namespace {

void put_u32(uint32_t value, std::string& to) {
  for (const int shift : {24, 16, 8, 0}) to += static_cast<char>(value >> shift & 0xff);
}

/// CRC-32 as PNG has it (ISO 3309).
uint32_t crc32(std::string_view bytes) {
  static constexpr auto kTable = [] {
    std::array<uint32_t, 256> table{};
    for (uint32_t i = 0; i < 256; ++i) {
      table[i] = i;
      for (int bit = 0; bit < 8; ++bit) table[i] = table[i] & 1 ? table[i] >> 1 ^ 0xedb88320U : table[i] >> 1;
    }
    return table;
  }();
  uint32_t crc = 0xffffffffU;
  for (const char c : bytes) crc = kTable[(crc ^ static_cast<uint8_t>(c)) & 0xff] ^ crc >> 8;
  return ~crc;
}

uint32_t adler32(std::string_view bytes) {
  uint32_t a = 1, b = 0;
  for (const char c : bytes) a = (a + static_cast<uint8_t>(c)) % 65521, b = (b + a) % 65521;
  return b << 16 | a;
}

void put_chunk(std::string_view type, const std::string& data, std::string& to) {
  put_u32(static_cast<uint32_t>(data.size()), to);
  const std::string typed = std::string(type) + data;
  to += typed;
  put_u32(crc32(typed), to);
}

/// A zlib stream of blocks that are stored as they are.
std::string stored(const std::string& bytes) {
  constexpr size_t kMostOfBlock = 65535;
  std::string out("\x78\x01", 2);
  for (size_t at = 0; at < bytes.size(); at += kMostOfBlock) {
    const size_t size = std::min(kMostOfBlock, bytes.size() - at);
    out += static_cast<char>(at + size == bytes.size());
    for (const size_t length : {size, ~size})
      out += static_cast<char>(length & 0xff), out += static_cast<char>(length >> 8 & 0xff);
    out.append(bytes, at, size);
  }
  put_u32(adler32(bytes), out);
  return out;
}

std::string base64(const std::string& bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t at = 0; at < bytes.size(); at += 3) {
    uint32_t three = 0;
    for (size_t i = 0; i < 3; ++i)
      three = three << 8 | (at + i < bytes.size() ? static_cast<uint8_t>(bytes[at + i]) : 0U);
    for (size_t i = 0; i < 4; ++i) text += at + i > bytes.size() ? '=' : kDigits[three >> (18 - 6 * i) & 63];
  }
  return text;
}

}  // namespace

std::string picture_uri(const Thumbnail& p) {
  if (p.empty()) return {};
  std::string header, rows;
  put_u32(static_cast<uint32_t>(p.size.width), header);
  put_u32(static_cast<uint32_t>(p.size.height), header);
  header += {8, p.channels == 1 ? '\0' : '\2', 0, 0,
             0};  // bits, grey or colours, the only compression, filter and order that there are
  const size_t width = p.size.width * p.channels;
  for (size_t y = 0; y < static_cast<size_t>(p.size.height); ++y) {
    rows += '\0';  // not filtered
    for (size_t x = 0; x < width; ++x) rows += static_cast<char>(p.pixels[y * width + x]);
  }
  std::string png("\x89PNG\r\n\x1a\n", 8);
  put_chunk("IHDR", header, png);
  put_chunk("IDAT", stored(rows), png);
  put_chunk("IEND", {}, png);
  return "data:image/png;base64," + base64(png);
}

}  // namespace stormcell::report
