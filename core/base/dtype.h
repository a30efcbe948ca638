// Number formats of tensors and the conversions between the floating ones. number_format.h has the facts of each
// format.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace stormcell {

enum class DType : uint8_t {
  f32,
  f16,
  bf16,
  f64,
  f8_e4m3,
  f8_e5m2,
  i8,
  u8,
  i16,
  u16,
  i32,
  u32,
  i64,
  u64,
  boolean,
  q8_0,
  q4_0,
  q4_k,
  q5_k,
  q6_k,
  mxfp4
};

/// Bytes of one element. Throws Error(failed) for a format of blocks, whose elements have no bytes of their own: ask
/// row_bytes().
size_t element_size(DType type);
/// "f32", "bf16", ...
std::string_view to_text(DType type);
/// Parses the names of to_text; empty if unknown.
std::optional<DType> parse_dtype(std::string_view text);
/// True for the floating types that the engine computes with and converts: f32, f16, bf16.
bool is_engine_float(DType type);
/// Their names as a message lists them: "f32, f16 or bf16".
std::string engine_float_names();

inline float bf16_to_f32(uint16_t v) { return std::bit_cast<float>(static_cast<uint32_t>(v) << 16); }
/// Round to nearest, ties to even; NaN stays NaN.
inline uint16_t f32_to_bf16(float f) {
  const uint32_t u = std::bit_cast<uint32_t>(f);
  if ((u & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((u >> 16) | 0x40);
  return static_cast<uint16_t>((u + 0x7fff + ((u >> 16) & 1)) >> 16);
}
float f16_to_f32(uint16_t v);
/// Round to nearest, ties to even.
uint16_t f32_to_f16(float f);

/// Numbers of 8 bits by the OCP specification: 4 bits of exponent and 3 of fraction, which have a NaN and no infinity;
/// 5 and 2, which are the upper half of an f16.
float f8_e4m3_to_f32(uint8_t v);
float f8_e5m2_to_f32(uint8_t v);

/// Converts n elements of a float type (f32, f16, bf16, f64, f8_e4m3, f8_e5m2) to f32.
void to_f32(const void* from, DType type, float* to, size_t n);
/// Converts n f32 elements to f32, f16 or bf16.
void from_f32(const float* from, void* to, DType type, size_t n);

}  // namespace stormcell
