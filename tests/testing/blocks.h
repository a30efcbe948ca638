// Weights in blocks to test with, written field by field: nothing in the program writes these formats.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/number_format.h"

namespace stormcell::testing {

inline constexpr std::array kBlockFormats = {DType::q8_0, DType::q4_0, DType::q4_k,
                                             DType::q5_k, DType::q6_k, DType::mxfp4};

inline void put_byte(std::vector<std::byte>& block, unsigned byte) { block.push_back(static_cast<std::byte>(byte)); }
inline void put_half(std::vector<std::byte>& block, uint16_t bits) {
  put_byte(block, bits & 0xffu), put_byte(block, bits >> 8);
}

/// Codes i and i + 16 of 32 share byte i.
inline void put_nibbles(std::vector<std::byte>& block, const std::vector<int>& codes) {
  for (size_t i = 0; i < 16; ++i) put_byte(block, static_cast<unsigned>(codes[i] | codes[i + 16] << 4));
}
inline std::vector<std::byte> q4_0_block(uint16_t scale, const std::vector<int>& codes) {
  std::vector<std::byte> block;
  put_half(block, scale);
  put_nibbles(block, codes);
  return block;
}
inline std::vector<std::byte> mxfp4_block(int scale, const std::vector<int>& codes) {
  std::vector<std::byte> block;
  put_byte(block, static_cast<unsigned>(scale));
  put_nibbles(block, codes);
  return block;
}

/// The beginning of Q4_K and Q5_K: two scales in f16, then eight scales and eight minima of six bits.
inline std::vector<std::byte> run_scales(uint16_t scale, uint16_t minimum, const std::vector<int>& scales,
                                         const std::vector<int>& minima) {
  std::vector<std::byte> block;
  put_half(block, scale), put_half(block, minimum);
  for (size_t i = 0; i < 4; ++i) put_byte(block, static_cast<unsigned>(scales[i] | (scales[i + 4] >> 4) << 6));
  for (size_t i = 0; i < 4; ++i) put_byte(block, static_cast<unsigned>(minima[i] | (minima[i + 4] >> 4) << 6));
  for (size_t i = 4; i < 8; ++i) put_byte(block, static_cast<unsigned>((scales[i] & 15) | (minima[i] & 15) << 4));
  return block;
}
/// The lower four bits of 256 codes: those of element i and of i + 32 share a byte.
inline void put_low_bits(std::vector<std::byte>& block, const std::vector<int>& codes) {
  for (size_t pair = 0; pair < 256; pair += 64)
    for (size_t i = pair; i < pair + 32; ++i)
      put_byte(block, static_cast<unsigned>((codes[i] & 15) | (codes[i + 32] & 15) << 4));
}
inline std::vector<std::byte> q4_k_block(uint16_t scale, uint16_t minimum, const std::vector<int>& scales,
                                         const std::vector<int>& minima, const std::vector<int>& codes) {
  std::vector<std::byte> block = run_scales(scale, minimum, scales, minima);
  put_low_bits(block, codes);
  return block;
}
inline std::vector<std::byte> q5_k_block(uint16_t scale, uint16_t minimum, const std::vector<int>& scales,
                                         const std::vector<int>& minima, const std::vector<int>& codes) {
  std::vector<std::byte> block = run_scales(scale, minimum, scales, minima);
  for (size_t i = 0; i < 32; ++i) {
    unsigned bits = 0;
    for (size_t run = 0; run < 8; ++run) bits |= static_cast<unsigned>(codes[32 * run + i] >> 4) << run;
    put_byte(block, bits);
  }
  put_low_bits(block, codes);
  return block;
}
inline std::vector<std::byte> q6_k_block(uint16_t scale, const std::vector<int>& scales,
                                         const std::vector<int>& codes) {
  std::vector<std::byte> block;
  for (size_t half = 0; half < 256; half += 128)
    for (size_t i = half; i < half + 64; ++i)
      put_byte(block, static_cast<unsigned>((codes[i] & 15) | (codes[i + 64] & 15) << 4));
  for (size_t half = 0; half < 256; half += 128)
    for (size_t i = half; i < half + 32; ++i)
      put_byte(block, static_cast<unsigned>(codes[i] >> 4 | codes[i + 32] >> 4 << 2 | codes[i + 64] >> 4 << 4 |
                                            codes[i + 96] >> 4 << 6));
  for (const int s : scales) put_byte(block, static_cast<unsigned>(s) & 0xffu);
  put_half(block, scale);
  return block;
}

/// A block whose elements were computed by hand.
struct KnownBlock {
  DType format = DType::f32;
  std::vector<std::byte> bytes;
  std::vector<float> elements;
};
inline std::vector<KnownBlock> known_blocks() {
  constexpr uint16_t kHalf = 0x3800, kOne = 0x3c00, kMinusTwo = 0xc000, kSubnormal = 0x0003;
  std::vector<KnownBlock> all;
  std::vector<int> codes;
  std::vector<float> elements;
  const auto clear = [&] { codes.clear(), elements.clear(); };

  for (int i = 0; i < 32; ++i) codes.push_back(i < 16 ? i : 31 - i), elements.push_back(0.5f * float(codes.back() - 8));
  all.push_back({DType::q4_0, q4_0_block(kHalf, codes), elements});

  // All sixteen numbers of E2M1 up, then down, times 4.
  const std::vector<float> e2m1 = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6, 0, -0.5f, -1, -1.5f, -2, -3, -4, -6};
  elements.clear();
  for (const int code : codes) elements.push_back(4 * e2m1[static_cast<size_t>(code)]);
  all.push_back({DType::mxfp4, mxfp4_block(129, codes), elements});
  elements.clear();
  for (const int code : codes) elements.push_back(e2m1[static_cast<size_t>(code)] * 0x1p-127f);
  all.push_back({DType::mxfp4, mxfp4_block(0, codes), elements});

  const std::vector<int> scales = {1, 2, 3, 63, 5, 16, 47, 48}, minima = {0, 1, 2, 63, 4, 17, 40, 33};
  clear();
  for (int i = 0; i < 256; ++i) {
    codes.push_back((i * 7 + i / 16) % 16);
    const size_t run = static_cast<size_t>(i) / 32;
    elements.push_back(-2.0f * float(scales[run] * codes.back()) - 0.5f * float(minima[run]));
  }
  all.push_back({DType::q4_k, q4_k_block(kMinusTwo, kHalf, scales, minima, codes), elements});

  clear();
  for (int i = 0; i < 256; ++i) {
    codes.push_back((i * 11 + i / 32) % 32);
    const size_t run = static_cast<size_t>(i) / 32;
    elements.push_back(0x3p-24f * float(scales[run] * codes.back()) - float(minima[run]) * 0x3p-24f);
  }
  all.push_back({DType::q5_k, q5_k_block(kSubnormal, kSubnormal, scales, minima, codes), elements});

  const std::vector<int> of_sixteen = {-128, 127, 0, 1, -1, 5, -7, 64, -64, 33, -33, 100, -100, 2, -2, 77};
  clear();
  for (int i = 0; i < 256; ++i) {
    codes.push_back((i * 13 + i / 32) % 64);
    elements.push_back(float(of_sixteen[static_cast<size_t>(i) / 16] * (codes.back() - 32)));
  }
  all.push_back({DType::q6_k, q6_k_block(kOne, of_sixteen, codes), elements});

  std::vector<std::byte> bytes;
  elements.clear();
  put_half(bytes, kMinusTwo);
  for (int i = 0; i < 32; ++i) {
    put_byte(bytes, static_cast<unsigned>(8 * i - 128) & 0xffu);
    elements.push_back(float(256 - 16 * i));
  }
  all.push_back({DType::q8_0, bytes, elements});
  return all;
}

enum class Scales : uint8_t {
  finite,  ///< any that is: large ones, subnormal ones, zero
  alike    ///< powers of two that differ by 8 at most, so that each block counts in a sum
};
/// Blocks of random bytes that hold `n` elements: words of next() in order, low byte first, then scales that are not as
/// `scales` says changed. tests/reference/make_blocks.py draws the same.
template <class Next>
std::vector<std::byte> drawn_blocks(Next&& next, DType type, int64_t n, Scales scales) {
  const NumberFormat& format = format_of(type);
  std::vector<std::byte> bytes(static_cast<size_t>(row_bytes(type, n)));
  for (size_t i = 0; i < bytes.size(); i += 8) {
    const uint64_t word = next();
    for (size_t j = i; j < std::min(bytes.size(), i + 8); ++j) bytes[j] = static_cast<std::byte>(word >> (8 * (j - i)));
  }
  for (size_t block = 0; block < bytes.size(); block += static_cast<size_t>(format.block_bytes))
    for (int32_t s = 0; s < format.scales; ++s) {
      // The high byte holds the exponent.
      std::byte& top = bytes[block + static_cast<size_t>(format.scales_at + (s + 1) * format.scale_bytes() - 1)];
      if (format.scale_bytes() == 1) {
        if (scales == Scales::alike) top = static_cast<std::byte>(120 + std::to_integer<int>(top) % 4);
        if (top == std::byte{255}) top = std::byte{254};
      } else {
        if (scales == Scales::alike) top = (top & std::byte{0x8f}) | std::byte{0x20};
        if ((top & std::byte{0x7c}) == std::byte{0x7c}) top &= std::byte{0xbf};
      }
    }
  return bytes;
}

/// The sum of word i times 0x9e3779b97f4a7c15 to the power of (words - 1 - i), modulo 2^64: words are the bits of
/// values, 0 for -0.
class ElementDigest {
 public:
  void add(std::span<const float> values) {
    for (const float v : values) sum_ = sum_ * 0x9e3779b97f4a7c15ull + std::bit_cast<uint32_t>(v + 0.0f);
  }
  uint64_t sum() const { return sum_; }

 private:
  uint64_t sum_ = 0;
};

}  // namespace stormcell::testing
