#include "core/base/dtype.h"

#include <cmath>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/listed_words.h"
#include "core/base/number_format.h"

namespace stormcell {

size_t element_size(DType type) {
  const NumberFormat& format = format_of(type);
  if (format.is_blocks())
    failed("number format " + std::string(format.name),
           "its elements have no size of their own, they are stored in blocks");
  return static_cast<size_t>(format.block_bytes);
}
std::string_view to_text(DType type) { return format_of(type).name; }
std::optional<DType> parse_dtype(std::string_view text) {
  for (const NumberFormat& format : number_formats())
    if (format.name == text) return format.type;
  return {};
}
bool is_engine_float(DType type) { return format_of(type).converts; }
std::string engine_float_names() {
  std::vector<std::string_view> names;
  for (const NumberFormat& format : number_formats())
    if (is_engine_float(format.type)) names.push_back(format.name);
  return either(names);
}

float f16_to_f32(uint16_t v) {
  const uint32_t sign = static_cast<uint32_t>(v & 0x8000) << 16, exponent = (v >> 10) & 0x1f, mantissa = v & 0x3ff;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  if (exponent == 0) return std::copysign(std::ldexp(static_cast<float>(mantissa), -24), sign ? -1.0f : 1.0f);
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
}

uint16_t f32_to_f16(float f) {
  const uint32_t u = std::bit_cast<uint32_t>(f), sign = (u >> 16) & 0x8000, magnitude = u & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00);
  if (magnitude >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00);  // rounds to 65536 or more
  if (magnitude < 0x38800000u)  // below 2^-14: subnormal, in units of 2^-24
    return static_cast<uint16_t>(sign | static_cast<uint32_t>(std::nearbyint(std::ldexp(std::fabs(f), 24))));
  const uint32_t rounded = magnitude + 0xfff + ((magnitude >> 13) & 1);
  return static_cast<uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
}

float f8_e4m3_to_f32(uint8_t v) {
  const uint32_t sign = static_cast<uint32_t>(v & 0x80) << 24, exponent = (v >> 3) & 0xf, mantissa = v & 7;
  if ((v & 0x7f) == 0x7f) return std::bit_cast<float>(sign | 0x7fc00000u);
  if (exponent == 0) return std::copysign(std::ldexp(static_cast<float>(mantissa), -9), sign ? -1.0f : 1.0f);
  return std::bit_cast<float>(sign | ((exponent + 120) << 23) | (mantissa << 20));
}

float f8_e5m2_to_f32(uint8_t v) { return f16_to_f32(static_cast<uint16_t>(v << 8)); }

void to_f32(const void* from, DType type, float* to, size_t n) {
  const auto* half = static_cast<const uint16_t*>(from);
  switch (type) {
    case DType::f32:
      std::memcpy(to, from, n * sizeof(float));
      return;
    case DType::bf16:
      for (size_t i = 0; i < n; ++i) to[i] = bf16_to_f32(half[i]);
      return;
    case DType::f16:
      for (size_t i = 0; i < n; ++i) to[i] = f16_to_f32(half[i]);
      return;
    case DType::f64:
      for (size_t i = 0; i < n; ++i) to[i] = static_cast<float>(static_cast<const double*>(from)[i]);
      return;
    case DType::f8_e4m3:
      for (size_t i = 0; i < n; ++i) to[i] = f8_e4m3_to_f32(static_cast<const uint8_t*>(from)[i]);
      return;
    case DType::f8_e5m2:
      for (size_t i = 0; i < n; ++i) to[i] = f8_e5m2_to_f32(static_cast<const uint8_t*>(from)[i]);
      return;
    default:
      bad_input("dtype", "expected a floating type, got " + std::string(to_text(type)));
  }
}

void from_f32(const float* from, void* to, DType type, size_t n) {
  auto* half = static_cast<uint16_t*>(to);
  switch (type) {
    case DType::f32:
      std::memcpy(to, from, n * sizeof(float));
      return;
    case DType::bf16:
      for (size_t i = 0; i < n; ++i) half[i] = f32_to_bf16(from[i]);
      return;
    case DType::f16:
      for (size_t i = 0; i < n; ++i) half[i] = f32_to_f16(from[i]);
      return;
    default:
      bad_input("dtype", "expected " + engine_float_names() + ", got " + std::string(to_text(type)));
  }
}

}  // namespace stormcell
