#include "core/traces/id_encodings.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "core/traces/trace.h"

namespace stormcell {
namespace {

bool is_letter_or_digit(char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }
bool all_are(std::string_view text, std::string_view others) {
  return std::all_of(text.begin(), text.end(),
                     [&](char c) { return is_letter_or_digit(c) || others.find(c) != std::string_view::npos; });
}

template <class Value, class Is>
bool each_is(std::string_view bytes, Is is) {
  if (bytes.empty() || bytes.size() % sizeof(Value)) return false;
  for (size_t at = 0; at < bytes.size(); at += sizeof(Value)) {
    Value value;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    if (!is(value)) return false;
  }
  return true;
}

}  // namespace

std::string_view text_encoding_like(std::string_view text) {
  const std::string_view body = text.substr(0, text.find_last_not_of('=') + 1);
  if (all_are(body, "+/")) return text.size() % 4 == 0 ? "" : "base64 without its padding";
  if (all_are(body, "-_")) return "URL-safe base64";
  if (text.starts_with("<~") || all_are(text, "!#$%&()*+-;<=>?@^_`{|}~")) return "base85";
  return {};
}

std::string_view id_type_like(std::string_view bytes) {
  const auto is_id = [](auto value) { return value >= -1 && value < kMostTracedBranches; };
  if (each_is<float>(bytes, [&](float value) { return is_id(value) && value == std::floor(value); })) return "float32";
  if (each_is<uint32_t>(bytes, [&](uint32_t value) {
        return is_id(static_cast<int64_t>(static_cast<int32_t>(__builtin_bswap32(value))));
      }))
    return "big-endian int32";
  if (each_is<int16_t>(bytes, [](int16_t value) { return value >= -1 && value < 256; })) return "int16";
  return "uint8";
}

bool is_like_int64(std::string_view bytes) {
  constexpr size_t kLeast = 8 * sizeof(int64_t);
  if (bytes.size() < kLeast) return false;
  bool any = false;
  return each_is<int64_t>(bytes,
                          [&](int64_t value) {
                            any |= value > 0;
                            return value >= -1 && value < kMostTracedBranches;
                          }) &&
         any;
}

}  // namespace stormcell
