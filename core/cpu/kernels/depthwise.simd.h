// A depthwise convolution: neighbouring output pixels of one row, each channel by itself, vectors of channels.
//
// A vector of the kernel's weights serves all pixels of a tile; fields overlap, so most of what they read is in L1. What comes new comes
// from the last row of the fields, in steps of a pixel that the processor does not foresee: it is fetched three tiles ahead (64 channels of
// 256 x 512 on one thread: 3.4 ms, 7.9 without).
//
// Limit: the loads of L1, 7 for 6 FMA.
#pragma once
#include "core/cpu/kernels/kernel_table.h"
#include "core/cpu/kernels/simd.h"

namespace stormcell::cpu::STORMCELL_ISA {

inline constexpr int64_t kDepthwisePixels = 6, kDepthwiseAhead = 3 * kDepthwisePixels;

template <int Pixels>
__attribute__((noinline)) void depthwise_tile(const DepthwiseTask& task, const float* x, float* y) {
  for_vectors(task.channels, [&](int64_t channel, auto lanes) {
    Floats sum[Pixels];
    const float* const coming = x + (task.rows - 1) * task.ld_row + kDepthwiseAhead * task.ldx + channel;
    static_for<0, Pixels>([&](auto p) STORMCELL_UNROLLED {
      sum[p] = splat(0);
      __builtin_prefetch(coming + p * task.ldx);
    });
    for (int64_t row = 0; row < task.rows; ++row) {
      const float *from = x + row * task.ld_row + channel, *w = task.weights + row * task.ld_weights + channel;
      for (int64_t column = 0; column < task.columns; ++column, from += task.ld_column, w += task.channels) {
        const Floats weight = load_some(w, lanes);
        static_for<0, Pixels>([&](auto p) STORMCELL_UNROLLED { sum[p] = fma(load_some(from + p * task.ldx, lanes), weight, sum[p]); });
      }
    }
    static_for<0, Pixels>([&](auto p) STORMCELL_UNROLLED { store_some(y + p * task.channels + channel, sum[p], lanes); });
  });
}

inline void depthwise(const DepthwiseTask& task) {
  for (int64_t first = 0; first < task.pixels; first += kDepthwisePixels) {
    const int64_t count = smaller(kDepthwisePixels, task.pixels - first);
    static_for<1, kDepthwisePixels + 1>([&](auto pixels) STORMCELL_UNROLLED {
      if (count == pixels) depthwise_tile<pixels>(task, task.x + first * task.ldx, task.y + first * task.channels);
    });
  }
}

}  // namespace stormcell::cpu::STORMCELL_ISA
