// Output pixels of a convolution, straight from the map: no field is gathered.
//
// A field is `kernel_rows` runs of k floats (kernel width times channels: channels lie last), ld_row apart, and
// neighbouring pixels' fields begin ldx apart, overlapping. So a tile of pixels times a panel of 16, 32 or 64 output
// channels is the register tile of a dense product whose rows overlap; narrow panels take more pixels instead of
// columns that are not there.
//
// Limit: the FMA ports. A step loads the panel's vectors and one number a pixel: 13 loads for 12 FMA with 16 channels,
// 14 for 24 with 32, 10 for 24 with 64, where a core does two of each a cycle.
//
// A panel is walked in chunks that stay in L1 while every pixel of the task uses them. Each sum is one chain over
// (kernel row, kernel column, channel), continued where the last chunk left it: results do not depend on chunks, tiles,
// or how many pixels there are.
#pragma once
#include "core/cpu/kernels/kernel_table.h"
#include "core/cpu/kernels/simd.h"

namespace stormcell::cpu::STORMCELL_ISA {

/// Vectors and pixels of a register tile, by the panel's width; what a panel has more is walked in several goes.
#if STORMCELL_SIMD_BITS == 512
constexpr int conv_vectors(int width) { return width / kLanes; }
constexpr int conv_pixels(int vectors) { return vectors == 4 ? 6 : 12; }
#else
constexpr int conv_vectors(int) { return 2; }
constexpr int conv_pixels(int) { return STORMCELL_SIMD_BITS == 256 ? 6 : 4; }
#endif
inline constexpr int64_t kConvChunkBytes = 24 * 1024;  // half of a 48 KiB L1

/// A part of the panel: kernel rows [row, row_end), and of each the floats [k, k_end).
struct ConvChunk {
  int64_t row, row_end, k, k_end;
  const float* weights;
  bool first;  ///< sums begin here
};

/// The numbers at `x` of Pixels fields: pixel 4 g + j is at base[g] + j * ldx, so that few registers hold all
/// addresses.
template <int Pixels>
struct FieldBases {
  static constexpr int kGroups = (Pixels + 3) / 4;
  const char* base[kGroups];
  int64_t step, three_steps;  ///< bytes
  STORMCELL_INLINE FieldBases(const float* x, int64_t ldx) : step(ldx * 4), three_steps(ldx * 12) {
    static_for<0, kGroups>([&](auto g)
                               STORMCELL_UNROLLED { base[g] = reinterpret_cast<const char*>(x + 4 * g * ldx); });
  }
  template <int Pixel>
  STORMCELL_INLINE float at(int64_t offset) const {
    const char* from = base[Pixel / 4] + offset;
    constexpr int kIn = Pixel % 4;
    if constexpr (kIn == 1) from += step;
    if constexpr (kIn == 2) from += 2 * step;
    if constexpr (kIn == 3) from += three_steps;
    float value;
    __builtin_memcpy(&value, from, 4);
    return value;
  }
};

template <int Pixels, int Vectors>
__attribute__((noinline)) void convolve_tile(const ConvolutionTask& task, const ConvChunk& chunk, const float* x,
                                             float* tile) {
  constexpr int kColumns = Vectors * kLanes;
  for (int64_t column = 0; column < task.width; column += kColumns) {
    Floats sum[Pixels][Vectors];
    static_for<0, Pixels>([&](auto p) STORMCELL_UNROLLED {
      static_for<0, Vectors>([&](auto v) STORMCELL_UNROLLED {
        sum[p][v] = chunk.first ? splat(0) : load(tile + p * task.width + column + v * kLanes);
      });
    });
    const float* w = chunk.weights + column;
    for (int64_t row = chunk.row; row < chunk.row_end; ++row) {
      const FieldBases<Pixels> fields(x + row * task.ld_row, task.ldx);
      for (int64_t offset = chunk.k * 4; offset < chunk.k_end * 4; offset += 4, w += task.width) {
        Floats b[Vectors];
        static_for<0, Vectors>([&](auto v) STORMCELL_UNROLLED { b[v] = load(w + v * kLanes); });
        static_for<0, Pixels>([&](auto p) STORMCELL_UNROLLED {
          const Floats a = splat(fields.template at<p>(offset));
          static_for<0, Vectors>([&](auto v) STORMCELL_UNROLLED { sum[p][v] = fma(a, b[v], sum[p][v]); });
        });
      }
    }
    static_for<0, Pixels>([&](auto p) STORMCELL_UNROLLED {
      static_for<0, Vectors>([&](auto v)
                                 STORMCELL_UNROLLED { store(tile + p * task.width + column + v * kLanes, sum[p][v]); });
    });
  }
}

/// Fetches pixels that are read after the task, as many as a tile has: memory would stand still while the tile is
/// multiplied.
inline void fetch_coming(const ConvolutionTask& task, int64_t first, int64_t count) {
  const char* const from = reinterpret_cast<const char*>(task.coming + first * task.ld_coming);
  for (int64_t byte = 0; byte < count * task.ld_coming * 4; byte += 64) prefetch(from + byte);
}

/// One chunk for all pixels of the task, row by row, in tiles as equal as they can be: 13 pixels are 7 + 6.
template <int Vectors>
inline void convolve_chunk(const ConvolutionTask& task, const ConvChunk& chunk) {
  constexpr int kPixels = conv_pixels(Vectors);
  const int64_t tiles = (task.pixels + kPixels - 1) / kPixels;
  for (int64_t r = 0; r < task.out_rows; ++r)
    for (int64_t t = 0; t < tiles; ++t) {
      const int64_t first = task.pixels * t / tiles, count = task.pixels * (t + 1) / tiles - first;
      const float* x = task.x + r * task.ld_out_row + first * task.ldx;
      float* tile = task.tile + (r * task.pixels + first) * task.width;
      if (chunk.first && task.coming) fetch_coming(task, r * task.pixels + first, count);
      static_for<1, kPixels + 1>([&](auto pixels) STORMCELL_UNROLLED {
        if (count == pixels) convolve_tile<pixels, Vectors>(task, chunk, x, tile);
      });
    }
}

inline void convolve_chunk_of(const ConvolutionTask& task, const ConvChunk& chunk) {
#if STORMCELL_SIMD_BITS == 512
  if (task.width == 16) return convolve_chunk<conv_vectors(16)>(task, chunk);
  if (task.width == 32) return convolve_chunk<conv_vectors(32)>(task, chunk);
  convolve_chunk<conv_vectors(64)>(task, chunk);
#else
  convolve_chunk<conv_vectors(64)>(task, chunk);
#endif
}

inline void convolve(const ConvolutionTask& task) {
  const int64_t steps = larger(1, kConvChunkBytes / (task.width * 4));
  if (task.k <= steps) {
    const int64_t rows = smaller(task.kernel_rows, steps / task.k);
    for (int64_t row = 0; row < task.kernel_rows; row += rows)
      convolve_chunk_of(task, {row, smaller(task.kernel_rows, row + rows), 0, task.k,
                               task.weights + row * task.k * task.width, row == 0});
    return;
  }
  const int64_t parts = (task.k + steps - 1) / steps;
  for (int64_t row = 0; row < task.kernel_rows; ++row)
    for (int64_t part = 0; part < parts; ++part) {
      const int64_t k = task.k * part / parts;
      convolve_chunk_of(task, {row, row + 1, k, task.k * (part + 1) / parts,
                               task.weights + (row * task.k + k) * task.width, row == 0 && part == 0});
    }
}

}  // namespace stormcell::cpu::STORMCELL_ISA
