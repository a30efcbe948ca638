#include "core/cpu/kernels/dot.h"

#include <cstring>

#include "core/base/dtype.h"

namespace stormcell::cpu {
namespace {

/// Sums of a vector's lanes: one chain over n would wait for each addition.
constexpr int64_t kDotSums = 16;

float dot_total(const float* sums, float rest) {
  for (int64_t l = 0; l < kDotSums; ++l) rest += sums[l];
  return rest;
}

}  // namespace

float dot_f32(const float* x, const std::byte* row, int64_t n) {
  const auto* w = reinterpret_cast<const float*>(row);
  float sums[kDotSums] = {}, rest = 0;
  int64_t i = 0;
  for (; i + kDotSums <= n; i += kDotSums)
    for (int64_t l = 0; l < kDotSums; ++l) sums[l] += x[i + l] * w[i + l];
  for (; i < n; ++i) rest += x[i] * w[i];
  return dot_total(sums, rest);
}

void decode_q8_0(const std::byte* block, float* to) {
  uint16_t half = 0;
  int8_t quants[kQ8Elements];
  std::memcpy(&half, block, sizeof half);
  std::memcpy(quants, block + sizeof half, sizeof quants);
  const float scale = f16_to_f32(half);
  for (int64_t i = 0; i < kQ8Elements; ++i) to[i] = scale * static_cast<float>(quants[i]);
}

float dot_q8_0(const float* x, const std::byte* row, int64_t n) {
  float sums[kDotSums] = {}, block[kQ8Elements];
  for (int64_t i = 0; i < n; i += kQ8Elements, row += kQ8Bytes) {
    decode_q8_0(row, block);
    for (int64_t j = 0; j < kQ8Elements; j += kDotSums)
      for (int64_t l = 0; l < kDotSums; ++l) sums[l] += x[i + j + l] * block[j + l];
  }
  return dot_total(sums, 0);
}

}  // namespace stormcell::cpu
