// Weights in blocks, expanded in registers. The layouts are those of block_q4_0, block_q4_K, ... in ggml-common.h of
// ggml; an element is the f32 that is nearest to what its definition gives, whatever the instruction set: products of
// scales and codes are exact in f32, and one rounding is left, of the difference with a minimum.
//
// Each format has its bytes, and visit(), which calls at(i, values) for vector after vector of a block, i ascending.
#pragma once
#include "core/cpu/kernels/simd.h"

namespace stormcell::cpu::STORMCELL_ISA {

/// kLanes bytes as whole numbers, without and with a sign.
STORMCELL_INLINE Ints bytes_at(const std::byte* p) {
#if STORMCELL_SIMD_BITS == 512
  return __builtin_bit_cast(Ints, _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
#elif STORMCELL_SIMD_BITS == 256
  return __builtin_bit_cast(Ints, _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))));
#else
  Ints a = splat_int(0);
  for (int i = 0; i < kLanes; ++i) a[i] = static_cast<uint8_t>(p[i]);
  return a;
#endif
}
STORMCELL_INLINE Ints signed_bytes_at(const std::byte* p) {
#if STORMCELL_SIMD_BITS == 512
  return __builtin_bit_cast(Ints, _mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
#elif STORMCELL_SIMD_BITS == 256
  return __builtin_bit_cast(Ints, _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))));
#else
  Ints a = splat_int(0);
  for (int i = 0; i < kLanes; ++i) a[i] = static_cast<int8_t>(p[i]);
  return a;
#endif
}
STORMCELL_INLINE Floats to_floats(Ints a) { return __builtin_convertvector(a, Floats); }

/// A number in f16, low byte first.
STORMCELL_INLINE float half_at(const std::byte* p) {
  uint16_t half;
  __builtin_memcpy(&half, p, sizeof half);
#if STORMCELL_SIMD_BITS > 128
  return _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(half)));
#else
  // With its bits in the places of an f32 the number is 2^112 times too small, subnormal or not.
  const uint32_t bits = (half & 0x7fffu) << 13, sign = (half & 0x8000u) << 16;
  const float wide = __builtin_bit_cast(float, bits) * 0x1p112f;
  const uint32_t not_finite = bits >= 0x0f800000u ? 0x7f800000u : 0u;
  return __builtin_bit_cast(float, __builtin_bit_cast(uint32_t, wide) | not_finite | sign);
#endif
}

/// 2^(exponent - 127), the scale of MXFP4; 255 is NaN.
STORMCELL_INLINE float power_of_two(std::byte exponent) {
  const uint32_t e = static_cast<uint8_t>(exponent);
  return __builtin_bit_cast(float, e == 255 ? 0x7fc00000u : e == 0 ? 0x00400000u : e << 23);
}

/// to[i] = by * byte i, of eight.
STORMCELL_INLINE void scale_bytes(uint64_t bytes, float by, float* to) {
#if STORMCELL_SIMD_BITS > 128
  const __m256i whole = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(static_cast<long long>(bytes)));
  _mm256_storeu_ps(to, _mm256_mul_ps(_mm256_set1_ps(by), _mm256_cvtepi32_ps(whole)));
#else
  for (int i = 0; i < 8; ++i) to[i] = by * static_cast<float>((bytes >> (8 * i)) & 255);
#endif
}
/// to[i] = by * p[i], of sixteen bytes with a sign.
STORMCELL_INLINE void scale_signed_bytes(const std::byte* p, float by, float* to) {
  static_for<0, 16 / kLanes>([&](auto v) STORMCELL_UNROLLED {
    store(to + v * kLanes, splat(by) * to_floats(signed_bytes_at(p + v * kLanes)));
  });
}

/// Sixteen numbers, first + step * code; only the low four bits of a code count.
class Levels {
 public:
#if STORMCELL_SIMD_BITS == 512
  // One permutation an element in place of a mask, a conversion and an FMA.
  STORMCELL_INLINE Levels(float step, float first)
      : table_(fma(splat(step), _mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), splat(first))) {}
  STORMCELL_INLINE Floats at(Ints codes) const {
    return _mm512_permutexvar_ps(__builtin_bit_cast(__m512i, codes), table_);
  }

 private:
  Floats table_;
#else
  STORMCELL_INLINE Levels(float step, float first) : step_(splat(step)), first_(splat(first)) {}
  STORMCELL_INLINE Floats at(Ints codes) const { return fma(step_, to_floats(codes & 15), first_); }

 private:
  Floats step_, first_;
#endif
};

/// Numbers of one bit of sign, two of exponent and one of fraction.
alignas(64) inline constexpr float kE2m1[16] = {0, 0.5f,  1,     1.5f,  2,     3,  4,  6,
                                                0, -0.5f, -1.0f, -1.5f, -2.0f, -3, -4, -6};
/// Those sixteen times a scale; only the low four bits of a code count.
class ScaledE2m1 {
 public:
#if STORMCELL_SIMD_BITS == 512
  STORMCELL_INLINE explicit ScaledE2m1(float scale) : table_(splat(scale) * load(kE2m1)) {}
  STORMCELL_INLINE Floats at(Ints codes) const {
    return _mm512_permutexvar_ps(__builtin_bit_cast(__m512i, codes), table_);
  }

 private:
  Floats table_;
#elif STORMCELL_SIMD_BITS == 256
  STORMCELL_INLINE explicit ScaledE2m1(float scale)
      : positive_(splat(scale) * load(kE2m1)), negative_(splat(scale) * load(kE2m1 + 8)) {}
  STORMCELL_INLINE Floats at(Ints codes) const {
    const __m256i index = __builtin_bit_cast(__m256i, codes);
    return _mm256_blendv_ps(_mm256_permutevar8x32_ps(positive_, index), _mm256_permutevar8x32_ps(negative_, index),
                            as_floats(codes << 28));
  }

 private:
  Floats positive_, negative_;
#else
  STORMCELL_INLINE explicit ScaledE2m1(float scale) : scale_(scale) {}
  STORMCELL_INLINE Floats at(Ints codes) const {
    Floats a = splat(0);
    for (int i = 0; i < kLanes; ++i) a[i] = scale_ * kE2m1[codes[i] & 15];
    return a;
  }

 private:
  float scale_;
#endif
};

/// at(i, codes) for the 32 codes of 16 bytes: the low halves of the bytes, then the high ones. A code is in the low
/// four bits.
template <class At>
STORMCELL_INLINE void visit_nibbles(const std::byte* p, At&& at) {
  static_for<0, 16 / kLanes>([&](auto v) STORMCELL_UNROLLED { at(v * kLanes, bytes_at(p + v * kLanes)); });
  static_for<0, 16 / kLanes>([&](auto v) STORMCELL_UNROLLED { at(16 + v * kLanes, bytes_at(p + v * kLanes) >> 4); });
}

/// A scale in f16, then 32 codes of 4 bits: scale * (code - 8).
struct BlockQ4_0 {
  static constexpr int kElements = 32, kBytes = 18;
  template <class At>
  static STORMCELL_INLINE void visit(const std::byte* block, At&& at) {
    const float scale = half_at(block);
    const Levels levels(scale, -8 * scale);
    visit_nibbles(block + 2, [&](int i, Ints codes) STORMCELL_UNROLLED { at(i, levels.at(codes)); });
  }
};

/// A scale in f16, then 32 bytes with a sign: scale * byte.
struct BlockQ8_0 {
  static constexpr int kElements = 32, kBytes = 34;
  template <class At>
  static STORMCELL_INLINE void visit(const std::byte* block, At&& at) {
    const Floats scale = splat(half_at(block));
    static_for<0, 32 / kLanes>(
        [&](auto v) STORMCELL_UNROLLED { at(v * kLanes, scale * to_floats(signed_bytes_at(block + 2 + v * kLanes))); });
  }
};

/// A power of two in a byte, then 32 numbers of 4 bits.
struct BlockMxfp4 {
  static constexpr int kElements = 32, kBytes = 17;
  template <class At>
  static STORMCELL_INLINE void visit(const std::byte* block, At&& at) {
    const ScaledE2m1 numbers(power_of_two(block[0]));
    visit_nibbles(block + 1, [&](int i, Ints codes) STORMCELL_UNROLLED { at(i, numbers.at(codes)); });
  }
};

/// Steps and first values of the eight runs of 32 elements of a block of Q4_K or Q5_K: an element is first + step *
/// code. The block begins with a scale of steps and one of minima in f16. 12 bytes hold eight of each in 6 bits: bytes
/// 0 to 3 and 4 to 7 the first four, and, in their upper two bits, the upper bits of the others, whose lower four are
/// in bytes 8 to 11.
struct Runs {
  float step[8], first[8];
  STORMCELL_INLINE explicit Runs(const std::byte* block) {
    uint32_t word[3];
    __builtin_memcpy(word, block + 4, sizeof word);
    const uint32_t lower = 0x0f0f0f0f, upper = 0x30303030, whole = 0x3f3f3f3f;
    const uint64_t scales =
        (word[0] & whole) | (static_cast<uint64_t>((word[2] & lower) | ((word[0] >> 2) & upper)) << 32);
    const uint64_t minima =
        (word[1] & whole) | (static_cast<uint64_t>(((word[2] >> 4) & lower) | ((word[1] >> 2) & upper)) << 32);
    scale_bytes(scales, half_at(block), step);
    scale_bytes(minima, -half_at(block + 2), first);
  }
};

/// Eight runs of 32 codes of 4 bits. Two runs share 32 bytes: the low halves are the first one.
struct BlockQ4_K {
  static constexpr int kElements = 256, kBytes = 144;
  template <class At>
  static STORMCELL_INLINE void visit(const std::byte* block, At&& at) {
    const Runs runs(block);
    for (int pair = 0; pair < 4; ++pair) {
      const std::byte* bytes = block + 16 + 32 * pair;
      static_for<0, 2>([&](auto half) STORMCELL_UNROLLED {
        const Levels levels(runs.step[2 * pair + half], runs.first[2 * pair + half]);
        static_for<0, 32 / kLanes>([&](auto v) STORMCELL_UNROLLED {
          at(64 * pair + 32 * half + v * kLanes, levels.at(bytes_at(bytes + v * kLanes) >> (4 * half)));
        });
      });
    }
  }
};

/// The same with codes of 5 bits: bit r of byte i of 32 is the fifth of element i of run r.
struct BlockQ5_K {
  static constexpr int kElements = 256, kBytes = 176;
  template <class At>
  static STORMCELL_INLINE void visit(const std::byte* block, At&& at) {
    const Runs runs(block);
    static_for<0, 8>([&](auto run) STORMCELL_UNROLLED {
      const Floats step = splat(runs.step[run]), first = splat(runs.first[run]);
      const std::byte *fifth = block + 16, *bytes = block + 48 + 32 * (run / 2);
      static_for<0, 32 / kLanes>([&](auto v) STORMCELL_UNROLLED {
        const Ints low = (bytes_at(bytes + v * kLanes) >> (4 * (run % 2))) & 15,
                   high = ((bytes_at(fifth + v * kLanes) >> run.value) & 1) << 4;
        at(32 * run + v * kLanes, fma(step, to_floats(low | high), first));
      });
    });
  }
};

/// Two halves of 128 codes of 6 bits, less 32: four bits of a quarter of 32 are in 32 bytes, which two quarters share,
/// and two bits in 32 bytes, which the four share. A byte with a sign for each 16 elements and one f16 at the end scale
/// them.
struct BlockQ6_K {
  static constexpr int kElements = 256, kBytes = 210;
  template <class At>
  static STORMCELL_INLINE void visit(const std::byte* block, At&& at) {
    alignas(64) float step[16], first[16];
    const float scale = half_at(block + 208);
    scale_signed_bytes(block + 192, scale, step);
    scale_signed_bytes(block + 192, -32 * scale, first);
    for (int half = 0; half < 2; ++half)
      static_for<0, 4>([&](auto quarter) STORMCELL_UNROLLED {
        const std::byte *four = block + 64 * half + 32 * (quarter % 2), *two = block + 128 + 32 * half;
        static_for<0, 32 / kLanes>([&](auto v) STORMCELL_UNROLLED {
          const Ints low = (bytes_at(four + v * kLanes) >> (4 * (quarter / 2))) & 15,
                     high = ((bytes_at(two + v * kLanes) >> (2 * quarter)) & 3) << 4;
          const int run = 8 * half + 2 * quarter + v * kLanes / 16;
          at(128 * half + 32 * quarter + v * kLanes, fma(splat(step[run]), to_floats(low | high), splat(first[run])));
        });
      });
  }
};

/// The elements of n / kElements blocks.
template <class Block>
inline void expand_blocks(const std::byte* blocks, int64_t n, float* to) {
  for (int64_t k = 0; k < n; k += Block::kElements, blocks += Block::kBytes)
    Block::visit(blocks, [&](int i, Floats values) STORMCELL_UNROLLED { store(to + k + i, values); });
}

}  // namespace stormcell::cpu::STORMCELL_ISA
