#include "core/oracle/stored_formats.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "core/base/error.h"

namespace stormcell::reference {
namespace {

template <DType format>
void read_elements(const std::byte* stored, int64_t first, int64_t n, float* to) {
  to_f32(stored + first * static_cast<int64_t>(element_size(format)), format, to, static_cast<size_t>(n));
}

/// A number of 1 bit of sign, 5 of exponent and 10 of fraction, from its definition (IEEE 754 binary16).
double half_number(unsigned bits) {
  const unsigned exponent = bits / 1024 % 32, fraction = bits % 1024;
  const double sign = bits / 32768 == 1 ? -1 : 1;
  if (exponent == 31) return fraction == 0 ? sign * HUGE_VAL : std::nan("");
  if (exponent == 0) return sign * std::ldexp(static_cast<double>(fraction), -24);
  return sign * std::ldexp(1 + static_cast<double>(fraction) / 1024, static_cast<int>(exponent) - 15);
}

/// Reads Q8_0 of GGUF: element i of a row is in block i / 32, which has 34 bytes: the scale, low byte first, then a
/// byte in two's complement for each element.
void read_q8_0(const std::byte* stored, int64_t first, int64_t n, float* to) {
  for (int64_t element = first; element < first + n; ++element) {
    const std::byte* block = stored + element / 32 * 34;
    const unsigned scale = std::to_integer<unsigned>(block[0]) + 256 * std::to_integer<unsigned>(block[1]);
    const int byte = std::to_integer<int>(block[2 + element % 32]);
    *to++ = static_cast<float>(half_number(scale) * (byte < 128 ? byte : byte - 256));
  }
}

constexpr std::array kStoredFormats = {
    StoredFormat{DType::f32, read_elements<DType::f32>, {}},
    StoredFormat{DType::f16, read_elements<DType::f16>, {11, -24, 65504.0}},
    StoredFormat{DType::bf16, read_elements<DType::bf16>, {8, -133, 3.3895313892515355e38}},
    StoredFormat{DType::f64, read_elements<DType::f64>, {}},
    StoredFormat{DType::q8_0, read_q8_0, {}},
};

}  // namespace

const StoredFormat& stored_format(DType format) {
  const auto at = std::find_if(kStoredFormats.begin(), kStoredFormats.end(),
                               [&](const StoredFormat& row) { return row.format == format; });
  if (at == kStoredFormats.end()) failed("oracle", "no weight is stored in " + std::string(to_text(format)));
  return *at;
}

}  // namespace stormcell::reference
