// Numbers are decoded in double, where nothing rounds: a scale has 11 bits, and its factors and codes 14 at most.
#include "core/oracle/stored_blocks.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace stormcell::reference {
namespace {

unsigned byte_at(const std::byte* block, int64_t at) { return std::to_integer<unsigned>(block[at]); }

/// A byte in two's complement.
int signed_byte_at(const std::byte* block, int64_t at) {
  const int byte = std::to_integer<int>(block[at]);
  return byte < 128 ? byte : byte - 256;
}

/// A number of 1 bit of sign, `exponent_bits` of exponent and `fraction_bits` of fraction, as IEEE 754 defines
/// binary16.
double small_float(unsigned bits, int exponent_bits, int fraction_bits) {
  const unsigned fractions = 1U << fraction_bits, exponents = 1U << exponent_bits;
  const unsigned exponent = bits / fractions % exponents, fraction = bits % fractions;
  const double sign = bits / fractions / exponents % 2 == 1 ? -1 : 1;
  const int bias = static_cast<int>(exponents / 2) - 1;
  if (exponent == exponents - 1) return fraction == 0 ? sign * HUGE_VAL : std::nan("");
  const double significand = static_cast<double>(fraction) / fractions + (exponent == 0 ? 0 : 1);
  return sign * std::ldexp(significand, static_cast<int>(std::max(exponent, 1U)) - bias);
}
double half_at(const std::byte* block, int64_t at) {
  return small_float(byte_at(block, at) + 256 * byte_at(block, at + 1), 5, 10);
}

/// All elements of a block.
template <size_t Elements>
using Values = std::array<double, Elements>;

/// Blocks of so many bytes, one at a time: values(block) are all that it holds.
template <size_t Elements, class ValuesOf>
void read_blocks(const std::byte* stored, int64_t bytes, int64_t first, int64_t n, float* to, ValuesOf values) {
  constexpr auto kElements = static_cast<int64_t>(Elements);
  for (int64_t element = first; element < first + n;) {
    const Values<Elements> all = values(stored + element / kElements * bytes);
    do *to++ = static_cast<float>(all[element % kElements]);
    while (++element < first + n && element % kElements != 0);
  }
}

/// Code i of 32 in 16 bytes: the first sixteen are the lower halves.
unsigned nibble(const std::byte* bytes, int i) { return i < 16 ? byte_at(bytes, i) % 16 : byte_at(bytes, i - 16) / 16; }

/// Q8_0: a scale in f16, then a byte in two's complement for each element.
Values<32> values_of_q8_0(const std::byte* block) {
  Values<32> all;
  const double scale = half_at(block, 0);
  for (int i = 0; i < 32; ++i) all[i] = scale * signed_byte_at(block, 2 + i);
  return all;
}

/// Q4_0: a scale in f16, then codes of which 8 is zero.
Values<32> values_of_q4_0(const std::byte* block) {
  Values<32> all;
  const double scale = half_at(block, 0);
  for (int i = 0; i < 32; ++i) all[i] = scale * (static_cast<int>(nibble(block + 2, i)) - 8);
  return all;
}

/// MXFP4 (OCP Microscaling Formats 1.0, sections 5 and 6): a scale 2^(byte - 127), of which 255 is NaN, then numbers of
/// 1 bit of sign, 2 of exponent with a bias of 1, and 1 of fraction, without infinities.
Values<32> values_of_mxfp4(const std::byte* block) {
  constexpr double kSizes[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  Values<32> all;
  const unsigned byte = byte_at(block, 0);
  const double scale = byte == 255 ? std::nan("") : std::ldexp(1, static_cast<int>(byte) - 127);
  for (int i = 0; i < 32; ++i) {
    const unsigned code = nibble(block + 1, i);
    all[i] = scale * (code < 8 ? kSizes[code] : -kSizes[code - 8]);
  }
  return all;
}

/// Eight scales and eight minima of 6 bits in 12 bytes (Q4_K, Q5_K). The first four are the lower 6 bits of bytes 0 to
/// 3, and 4 to 7; the others have their lower 4 bits in bytes 8 to 11 and their upper 2 bits on top of the first four.
unsigned six_bits(const std::byte* bytes, int run, bool is_minimum) {
  const int own = run + (is_minimum ? 4 : 0);
  if (run < 4) return byte_at(bytes, own) % 64;
  const unsigned both = byte_at(bytes, run + 4), top = byte_at(bytes, own - 4) / 64;
  return (is_minimum ? both / 16 : both % 16) + 16 * top;
}

/// scale * code - minimum, in runs of 32 elements; `code` gives that of element i.
template <class Code>
Values<256> values_of_runs(const std::byte* block, Code code) {
  Values<256> all;
  for (int run = 0; run < 8; ++run) {
    const double scale = half_at(block, 0) * six_bits(block + 4, run, false),
                 minimum = half_at(block, 2) * six_bits(block + 4, run, true);
    for (int i = 32 * run; i < 32 * (run + 1); ++i) all[i] = scale * code(i) - minimum;
  }
  return all;
}
/// The lower 4 bits of element i: pairs of runs share 32 bytes.
unsigned low_bits(const std::byte* bytes, int i) {
  const unsigned byte = byte_at(bytes, i / 64 * 32 + i % 32);
  return i % 64 < 32 ? byte % 16 : byte / 16;
}

Values<256> values_of_q4_k(const std::byte* block) {
  return values_of_runs(block, [&](int i) { return static_cast<int>(low_bits(block + 16, i)); });
}

/// As Q4_K, with a fifth bit: that of element i is bit i / 32 of byte i % 32 of the 32 bytes before the others.
Values<256> values_of_q5_k(const std::byte* block) {
  return values_of_runs(block, [&](int i) {
    const unsigned fifth = (byte_at(block + 16, i % 32) >> (i / 32)) & 1;
    return static_cast<int>(low_bits(block + 48, i) + 16 * fifth);
  });
}

/// Q6_K: 128 bytes with the lower 4 bits, 64 with the upper 2, 16 scales in two's complement, a scale of them in f16;
/// code 32 is zero. In each half of 128 elements, elements 64 apart share a byte of the first, and elements 32 apart a
/// byte of the second kind.
Values<256> values_of_q6_k(const std::byte* block) {
  Values<256> all;
  const double scale = half_at(block, 208);
  for (int i = 0; i < 256; ++i) {
    const int half = i / 128, in = i % 128;
    const unsigned four = byte_at(block, 64 * half + in % 64), two = byte_at(block + 128, 32 * half + in % 32);
    const unsigned code = (in < 64 ? four % 16 : four / 16) + 16 * ((two >> (2 * (in / 32))) & 3);
    all[i] = scale * signed_byte_at(block + 192, i / 16) * (static_cast<int>(code) - 32);
  }
  return all;
}

}  // namespace

void read_u8(const std::byte* stored, int64_t first, int64_t n, float* to) {
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<float>(byte_at(stored, first + i));
}
/// E4M3 of OCP's 8-bit floating point specification: no infinity, its largest code is NaN, and the exponent below it is
/// that of numbers up to 448.
void read_f8_e4m3(const std::byte* stored, int64_t first, int64_t n, float* to) {
  for (int64_t i = 0; i < n; ++i) {
    const unsigned bits = byte_at(stored, first + i), size = bits % 128;
    const double top = size == 127 ? std::nan("") : std::ldexp(1 + size % 8 / 8.0, 8);
    const double value = size < 120 ? small_float(size, 4, 3) : top;
    to[i] = static_cast<float>(bits < 128 ? value : -value);
  }
}
void read_f8_e5m2(const std::byte* stored, int64_t first, int64_t n, float* to) {
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<float>(small_float(byte_at(stored, first + i), 5, 2));
}
void read_q8_0(const std::byte* stored, int64_t first, int64_t n, float* to) {
  read_blocks<32>(stored, 34, first, n, to, values_of_q8_0);
}
void read_q4_0(const std::byte* stored, int64_t first, int64_t n, float* to) {
  read_blocks<32>(stored, 18, first, n, to, values_of_q4_0);
}
void read_q4_k(const std::byte* stored, int64_t first, int64_t n, float* to) {
  read_blocks<256>(stored, 144, first, n, to, values_of_q4_k);
}
void read_q5_k(const std::byte* stored, int64_t first, int64_t n, float* to) {
  read_blocks<256>(stored, 176, first, n, to, values_of_q5_k);
}
void read_q6_k(const std::byte* stored, int64_t first, int64_t n, float* to) {
  read_blocks<256>(stored, 210, first, n, to, values_of_q6_k);
}
void read_mxfp4(const std::byte* stored, int64_t first, int64_t n, float* to) {
  read_blocks<32>(stored, 17, first, n, to, values_of_mxfp4);
}

}  // namespace stormcell::reference
