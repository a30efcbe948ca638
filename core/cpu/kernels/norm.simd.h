// Root-mean-square and layer norms of rows.
//
// Limit: one read and one write of x; rows are read two or three times from L1. Sums run over four vectors at once to
// hide the FMA latency.
#pragma once
#include "core/cpu/kernels/simd.h"

namespace stormcell::cpu::STORMCELL_ISA {

/// Sum of f(x[i]) over a row, f mapping vectors to vectors.
template <class F>
STORMCELL_INLINE float sum_row(const float* x, int64_t d, F&& f) {
  Floats s0 = splat(0), s1 = splat(0), s2 = splat(0), s3 = splat(0);
  int64_t i = 0;
  for (; i + 4 * kLanes <= d; i += 4 * kLanes) {
    s0 = s0 + f(load(x + i));
    s1 = s1 + f(load(x + i + kLanes));
    s2 = s2 + f(load(x + i + 2 * kLanes));
    s3 = s3 + f(load(x + i + 3 * kLanes));
  }
  for_vectors(d - i,
              [&](int64_t j, auto count) { s0 = s0 + keep_lanes(f(load_some(x + i + j, count)), splat(0), count); });
  return sum_lanes((s0 + s1) + (s2 + s3));
}

STORMCELL_INLINE float inverse_rms(const float* x, int64_t d, float eps) {
  const float squares = sum_row(x, d, [](Floats v) { return v * v; });
  return 1.0f / __builtin_sqrtf(squares / static_cast<float>(d) + eps);
}

inline void rms_row_scale(const float* x, int64_t rows, int64_t d, float eps, float* out) {
  for (int64_t r = 0; r < rows; ++r) out[r] = inverse_rms(x + r * d, d, eps);
}

/// `Out`: float, or uint16_t for bf16.
template <class Out>
inline void rms_norm(const float* x, int64_t rows, int64_t d, const float* gain, float eps, Out* y) {
  for (int64_t r = 0; r < rows; ++r, x += d, y += d) {
    const Floats scale = splat(inverse_rms(x, d, eps));
    for_vectors(d, [&](int64_t i, auto count) {
      Floats v = load_some(x + i, count) * scale;
      if (gain) v = v * load_some(gain + i, count);
      store_some(y + i, v, count);
    });
  }
}

inline void layer_norm(const float* x, int64_t rows, int64_t d, const float* gain, const float* bias, float eps,
                       float* y) {
  for (int64_t r = 0; r < rows; ++r, x += d, y += d) {
    const float mean = sum_row(x, d, [](Floats v) { return v; }) / static_cast<float>(d);
    const Floats centre = splat(mean);
    // Around the mean, not as a difference of squares: exact where mean^2 is far above the variance.
    const float squares = sum_row(x, d, [&](Floats v) { return (v - centre) * (v - centre); });
    const Floats scale = splat(1.0f / __builtin_sqrtf(squares / static_cast<float>(d) + eps));
    for_vectors(d, [&](int64_t i, auto count) {
      Floats v = (load_some(x + i, count) - centre) * scale;
      if (gain) v = v * load_some(gain + i, count);
      if (bias) v = v + load_some(bias + i, count);
      store_some(y + i, v, count);
    });
  }
}

}  // namespace stormcell::cpu::STORMCELL_ISA
