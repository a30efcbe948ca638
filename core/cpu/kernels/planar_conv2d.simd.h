// Output pixels of a convolution with few output channels, in planes: a channel's pixels lie side by side.
//
// Vectors hold neighbouring pixels of one channel, so 8, 12 or 20 channels leave no lane empty, where a panel of 16
// columns has half of them for 8. A step reads 2 or 4 vectors of pixels and one weight an output channel.
//
// Limit: the FMA ports. With AVX-512, 12 channels and 2 vectors are 24 FMA and 14 loads, 8 channels 16 and 10, 3
// channels and 4 vectors 12 and 7, where a core does two of each a cycle; vectors that straddle cache lines take a
// second load.
//
// Each sum is one chain over (kernel row, kernel column, channel), then bias, activation, residual: bit for bit what
// convolve() and the epilogue give.
#pragma once
#include "core/cpu/kernels/kernel_table.h"
#include "core/cpu/kernels/simd.h"
#include "core/cpu/kernels/vector_math.simd.h"

namespace stormcell::cpu::STORMCELL_ISA {

/// Output channels and vectors whose sums the registers hold; what a group has more is walked in several goes.
#if STORMCELL_SIMD_BITS == 512
inline constexpr int kPlanarOutputs = 12, kPlanarWideOutputs = 6;
#else
inline constexpr int kPlanarOutputs = 6, kPlanarWideOutputs = 3;
#endif

/// Output channels [first, first + Outputs) of the group at `pixels` pixels, at most Vectors vectors of them, `at`
/// floats into the planes.
template <int Outputs, int Vectors>
__attribute__((noinline)) void planar_tile(const PlanarTask& task, int64_t first, const float* x, int64_t at,
                                           int64_t pixels) {
  Floats sum[Outputs][Vectors];
  static_for<0, Outputs>([&](auto o) STORMCELL_UNROLLED {
    static_for<0, Vectors>([&](auto v) STORMCELL_UNROLLED { sum[o][v] = splat(0); });
  });
  const float* w = task.weights + first;
  for (int64_t row = 0; row < task.kernel_rows; ++row)
    for (int64_t column = 0; column < task.kernel_columns; ++column) {
      const float* from = x + row * task.x_row + column;
      for (int64_t c = 0; c < task.channels; ++c, from += task.x_plane, w += task.outputs) {
        Floats a[Vectors];
        static_for<0, Vectors>([&](auto v) STORMCELL_UNROLLED { a[v] = load(from + v * kLanes); });
        static_for<0, Outputs>([&](auto o) STORMCELL_UNROLLED {
          const Floats b = splat(w[o]);
          static_for<0, Vectors>([&](auto v) STORMCELL_UNROLLED { sum[o][v] = fma(a[v], b, sum[o][v]); });
        });
      }
    }
  static_for<0, Outputs>([&](auto o) STORMCELL_UNROLLED {
    const int64_t place = (first + o) * task.y_plane + at;
    static_for<0, Vectors>([&](auto v) STORMCELL_UNROLLED {
      const int64_t left = smaller(kLanes, pixels - v * kLanes);
      Floats y = sum[o][v];
      if (task.bias) y = y + splat(task.bias[first + o]);
      if (task.relu) y = activate<Activation::relu>(y);
      if (left == kLanes) {
        if (task.residual) y = y + load(task.residual + place + v * kLanes);
        store(task.y + place + v * kLanes, y);
      } else if (left > 0) {
        if (task.residual) y = y + load_part(task.residual + place + v * kLanes, left);
        store_part(task.y + place + v * kLanes, y, left);
      }
    });
  });
}

/// One row of so many channels of the group.
template <int Outputs>
inline void planar_row(const PlanarTask& task, int64_t first, int64_t row) {
  const float* x = task.x + row * task.x_row;
  const int64_t at = row * task.y_row;
  int64_t pixel = 0;
  if constexpr (Outputs <= kPlanarWideOutputs)
    for (; task.pixels - pixel > 2 * kLanes; pixel += 4 * kLanes)
      planar_tile<Outputs, 4>(task, first, x + pixel, at + pixel, task.pixels - pixel);
  for (; task.pixels - pixel > kLanes; pixel += 2 * kLanes)
    planar_tile<Outputs, 2>(task, first, x + pixel, at + pixel, task.pixels - pixel);
  if (task.pixels > pixel) planar_tile<Outputs, 1>(task, first, x + pixel, at + pixel, task.pixels - pixel);
}

inline void convolve_planes(const PlanarTask& task) {
  const int64_t goes = (task.outputs + kPlanarOutputs - 1) / kPlanarOutputs;
  for (int64_t go = 0; go < goes; ++go) {
    const int64_t first = task.outputs * go / goes, count = task.outputs * (go + 1) / goes - first;
    for (int64_t row = 0; row < task.rows; ++row)
      static_for<1, kPlanarOutputs + 1>([&](auto outputs) STORMCELL_UNROLLED {
        if (count == outputs) planar_row<outputs>(task, first, row);
      });
  }
}

}  // namespace stormcell::cpu::STORMCELL_ISA
