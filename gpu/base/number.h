// Numbers in kernels: bf16 as its bits, conversions that give the same bits on host and device (except for the bits of
// NaN), a few helpers.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>

#include "gpu/base/annotations.h"

namespace stormcell::gpu {

/// A bf16 number; arithmetic is done in float.
struct Bf16 {
  uint16_t bits;
};
/// Sixteen bytes, what one thread loads or stores at best.
struct alignas(16) Sixteen {
  uint32_t word[4];
};

STORMCELL_BOTH inline float float_of_bits(uint32_t bits) {
#if defined(__CUDA_ARCH__)
  return __uint_as_float(bits);
#else
  return std::bit_cast<float>(bits);
#endif
}
STORMCELL_BOTH inline uint32_t bits_of_float(float value) {
#if defined(__CUDA_ARCH__)
  return __float_as_uint(value);
#else
  return std::bit_cast<uint32_t>(value);
#endif
}

STORMCELL_BOTH inline float to_float(float value) { return value; }
STORMCELL_BOTH inline float to_float(Bf16 value) { return float_of_bits(static_cast<uint32_t>(value.bits) << 16); }
/// Round to nearest, ties to even; NaN stays NaN (the bits of core/base/dtype.h).
STORMCELL_BOTH inline Bf16 to_bf16(float value) {
#if defined(__CUDA_ARCH__)
  uint16_t bits = 0;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return {bits};
#else
  const uint32_t u = bits_of_float(value);
  if ((u & 0x7fffffffu) > 0x7f800000u) return {static_cast<uint16_t>((u >> 16) | 0x40)};
  return {static_cast<uint16_t>((u + 0x7fff + ((u >> 16) & 1)) >> 16)};
#endif
}
template <class T>
STORMCELL_BOTH T number(float value);
template <>
STORMCELL_BOTH inline float number<float>(float value) {
  return value;
}
template <>
STORMCELL_BOTH inline Bf16 number<Bf16>(float value) {
  return to_bf16(value);
}
/// The two bf16 numbers of a word, lower half first.
STORMCELL_BOTH inline float low_bf16(uint32_t word) { return float_of_bits(word << 16); }
STORMCELL_BOTH inline float high_bf16(uint32_t word) { return float_of_bits(word & 0xffff0000u); }
STORMCELL_BOTH inline uint32_t two_bf16(float low, float high) {
#if defined(__CUDA_ARCH__)
  uint32_t two = 0;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(two) : "f"(high), "f"(low));
  return two;
#else
  return static_cast<uint32_t>(to_bf16(low).bits) | static_cast<uint32_t>(to_bf16(high).bits) << 16;
#endif
}
/// Row `row` of rows of so many bytes in the card's memory: one instruction, which the compiler does not split up at
/// each use.
STORMCELL_BOTH inline char* row_at(char* rows, int32_t row, int32_t row_bytes) {
#if defined(__CUDA_ARCH__)
  size_t address = 0;
  asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(address) : "r"(row), "r"(row_bytes), "l"(__cvta_generic_to_global(rows)));
  return static_cast<char*>(__cvta_global_to_generic(address));
#else
  return rows + static_cast<int64_t>(row) * row_bytes;
#endif
}
/// Byte i of the result is byte (selector >> 4 i & 7) of the eight of a (0 to 3) and b (4 to 7).
STORMCELL_BOTH inline uint32_t pick_bytes(uint32_t a, uint32_t b, uint32_t selector) {
#if defined(__CUDA_ARCH__)
  return __byte_perm(a, b, selector);
#else
  const uint64_t both = static_cast<uint64_t>(b) << 32 | a;
  uint32_t picked = 0;
  for (uint32_t i = 0; i < 4; ++i) picked |= static_cast<uint32_t>(both >> (selector >> 4 * i & 7) * 8 & 0xff) << 8 * i;
  return picked;
#endif
}

template <class T>
STORMCELL_BOTH constexpr T least(T a, T b) {
  return b < a ? b : a;
}
template <class T>
STORMCELL_BOTH constexpr T most(T a, T b) {
  return a < b ? b : a;
}
/// Number of parts of `size` that hold n.
template <class T>
STORMCELL_BOTH constexpr T parts(T n, T size) {
  return (n + size - 1) / size;
}

}  // namespace stormcell::gpu
