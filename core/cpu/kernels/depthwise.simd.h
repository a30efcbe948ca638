// A depthwise convolution: neighbouring output pixels of one row, each channel by itself, vectors of channels.
//
// A vector of the kernel's weights serves all pixels of a tile; fields overlap, so most of what they read is in L1.
// New pixels come from the last row of the fields, in steps of a pixel that the processor does not foresee: they are
// fetched 18 pixels ahead, two or three tiles (64 channels of 256 x 512 on one thread: 3.4 ms, 7.9 without).
//
// Kernels of three columns in steps of one pixel load each pixel of a row once for the three that it counts in.
//
// Limit: the FMA ports with three columns, 10 loads and 3 weights for 24 FMA; else the loads of L1, 7 for 6.
#pragma once
#include "core/cpu/kernels/kernel_table.h"
#include "core/cpu/kernels/simd.h"

namespace stormcell::cpu::STORMCELL_ISA {

inline constexpr int64_t kDepthwisePixels = 6, kThreeColumnPixels = 8, kDepthwiseAhead = 18;

/// ThreeColumns: neighbours' fields lie one column apart and have three. The same sums in the same order either way.
template <int Pixels, bool ThreeColumns>
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
      if constexpr (ThreeColumns) {
        const Floats left = load_some(w, lanes), middle = load_some(w + task.channels, lanes),
                     right = load_some(w + 2 * task.channels, lanes);
        Floats a = load_some(from, lanes), b = load_some(from + task.ldx, lanes);
        static_for<0, Pixels>([&](auto p) STORMCELL_UNROLLED {
          const Floats c = load_some(from + (p + 2) * task.ldx, lanes);
          sum[p] = fma(c, right, fma(b, middle, fma(a, left, sum[p])));
          a = b;
          b = c;
        });
      } else {
        for (int64_t column = 0; column < task.columns; ++column, from += task.ld_column, w += task.channels) {
          const Floats weight = load_some(w, lanes);
          static_for<0, Pixels>(
              [&](auto p) STORMCELL_UNROLLED { sum[p] = fma(load_some(from + p * task.ldx, lanes), weight, sum[p]); });
        }
      }
    }
    static_for<0, Pixels>([&](auto p)
                              STORMCELL_UNROLLED { store_some(y + p * task.channels + channel, sum[p], lanes); });
  });
}

/// Computes tiles of so many pixels, and the rest.
template <int Pixels, bool ThreeColumns>
STORMCELL_INLINE void depthwise_tiles(const DepthwiseTask& task) {
  for (int64_t first = 0; first < task.pixels; first += Pixels) {
    const int64_t count = smaller(Pixels, task.pixels - first);
    static_for<1, Pixels + 1>([&](auto pixels) STORMCELL_UNROLLED {
      if (count == pixels)
        depthwise_tile<pixels, ThreeColumns>(task, task.x + first * task.ldx, task.y + first * task.channels);
    });
  }
}

inline void depthwise(const DepthwiseTask& task) {
  if (task.columns == 3 && task.ld_column == task.ldx)
    depthwise_tiles<kThreeColumnPixels, true>(task);
  else
    depthwise_tiles<kDepthwisePixels, false>(task);
}

}  // namespace stormcell::cpu::STORMCELL_ISA
