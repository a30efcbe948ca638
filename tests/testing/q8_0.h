// Weights in q8_0 to test with, written by a quantiser of the tests' own: nothing in the program writes the format.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/dtype.h"

namespace stormcell::testing {

/// One block: its scale as the bits of an f16, then its 32 elements.
inline std::vector<std::byte> q8_0_block(uint16_t scale, const std::vector<int>& elements) {
  std::vector<std::byte> block{static_cast<std::byte>(scale & 0xff), static_cast<std::byte>(scale >> 8)};
  for (const int element : elements) block.push_back(static_cast<std::byte>(element & 0xff));
  return block;
}

/// Values in q8_0, a multiple of 32 of them. The scale is a 127th of the largest magnitude of its block, as ggml's
/// reference has it.
inline std::vector<std::byte> q8_0_of(const std::vector<float>& values) {
  std::vector<std::byte> bytes;
  for (size_t first = 0; first < values.size(); first += 32) {
    float largest = 0;
    for (size_t i = 0; i < 32; ++i) largest = std::max(largest, std::fabs(values[first + i]));
    const uint16_t scale = f32_to_f16(largest / 127);
    const float unit = f16_to_f32(scale);
    std::vector<int> elements;
    for (size_t i = 0; i < 32; ++i)
      elements.push_back(unit > 0 ? std::clamp(static_cast<int>(std::lround(values[first + i] / unit)), -127, 127) : 0);
    const std::vector<std::byte> block = q8_0_block(scale, elements);
    bytes.insert(bytes.end(), block.begin(), block.end());
  }
  return bytes;
}

}  // namespace stormcell::testing
