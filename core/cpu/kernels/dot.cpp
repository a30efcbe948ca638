#include "core/cpu/kernels/dot.h"

namespace stormcell::cpu {

float dot_f32(const float* x, const std::byte* row, int64_t n) {
  constexpr int64_t kSums = 16;  // of a vector's lanes: one chain over n would wait for each addition
  const auto* w = reinterpret_cast<const float*>(row);
  float sums[kSums] = {}, rest = 0;
  int64_t i = 0;
  for (; i + kSums <= n; i += kSums)
    for (int64_t l = 0; l < kSums; ++l) sums[l] += x[i + l] * w[i + l];
  for (; i < n; ++i) rest += x[i] * w[i];
  for (int64_t l = 0; l < kSums; ++l) rest += sums[l];
  return rest;
}

}  // namespace stormcell::cpu
