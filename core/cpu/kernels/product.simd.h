// A block of rows times one packed panel of 64 columns: the loop in which the engine spends its time.
//
// Limit: one step reads 256 bytes of weights and does 128 FLOP (f32) or 256 (bf16) a row; below about 10 rows memory
// bounds it, above the FMA ports. Measured shares: docs/decisions/002-dense-products.md.
//
// The panel is walked in chunks that stay in L1 while every row of the block uses them. While one chunk is computed,
// the next is prefetched at the pace of the computation: without that, 16 rows first wait for memory and then compute
// (508 us against 316 us for 768 x 3072). Every sum is one chain over k, starting from what the previous chunk left:
// results do not depend on chunks, row blocks or row counts.
#pragma once
#include "core/cpu/kernels/kernel_table.h"
#include "core/cpu/kernels/simd.h"

namespace stormcell::cpu::STORMCELL_ISA {

inline constexpr int kPanel = 64;
inline constexpr int64_t kStepBytes = 256;
/// 24 KiB a chunk: half of a 48 KiB L1.
inline constexpr int64_t kChunkSteps = 96;

/// Rows of a register tile, and vectors of a row in it. As many independent sums as hide the FMA latency (8 for
/// AVX-512, 12 for AVX2) and still fit in the registers; few rows take wider tiles.
#if STORMCELL_SIMD_BITS == 512
inline constexpr int kTileRows = 6;
constexpr int tile_vectors(int) { return 4; }
#elif STORMCELL_SIMD_BITS == 256
inline constexpr int kTileRows = 6;
constexpr int tile_vectors(int rows) { return rows == 1 ? 8 : rows == 2 ? 4 : 2; }
#else
inline constexpr int kTileRows = 4;
constexpr int tile_vectors(int rows) { return rows == 1 ? 8 : rows == 2 ? 4 : 2; }
#endif

/// f32 weights, f32 rows: one k a step.
struct F32Steps {
  using X = float;
  static constexpr int kRows = kTileRows;
  static constexpr int kPerStep = 1;
  template <int Rows, int Vectors>
  static STORMCELL_INLINE void step(Floats (&sum)[Rows][Vectors], const float* const (&x)[Rows], int64_t k,
                                    const float* w) {
    Floats b[Vectors];
    static_for<0, Vectors>([&](auto v) STORMCELL_UNROLLED { b[v] = load(w + v * kLanes); });
    static_for<0, Rows>([&](auto r) STORMCELL_UNROLLED {
      const Floats a = splat(x[r][k]);
      static_for<0, Vectors>([&](auto v) STORMCELL_UNROLLED { sum[r][v] = fma(a, b[v], sum[r][v]); });
    });
  }
  template <int Rows, int Vectors>
  static STORMCELL_INLINE void half_step(Floats (&)[Rows][Vectors], const float* const (&)[Rows], int64_t,
                                         const float*) {}
};

/// bf16 weights widened in registers, f32 rows: two k a step, even k in the low halves.
struct WidenedSteps {
  using X = float;
  // a sixth row spills on AVX2: 67 instead of 90 GFLOP/s
  static constexpr int kRows = STORMCELL_SIMD_BITS == 256 ? 5 : kTileRows;
  static constexpr int kPerStep = 2;
  static STORMCELL_INLINE Floats low(Floats pair) { return as_floats(as_ints(pair) << 16); }
  static STORMCELL_INLINE Floats high(Floats pair) {
    return as_floats(as_ints(pair) & splat_int(static_cast<int32_t>(0xffff0000)));
  }
  /// Few rows keep both broadcasts of a row in registers, more rows the four or two vectors of one half: either way
  /// nothing spills.
  template <int Rows, int Vectors>
  static STORMCELL_INLINE void step(Floats (&sum)[Rows][Vectors], const float* const (&x)[Rows], int64_t k,
                                    const float* w) {
    if constexpr (Rows <= 3) {
      static_for<0, Vectors>([&](auto v) STORMCELL_UNROLLED {
        const Floats pair = load(w + v * kLanes);
        const Floats even = low(pair), odd = high(pair);
        static_for<0, Rows>([&](auto r) STORMCELL_UNROLLED { sum[r][v] = fma(splat(x[r][k]), even, sum[r][v]); });
        static_for<0, Rows>([&](auto r) STORMCELL_UNROLLED { sum[r][v] = fma(splat(x[r][k + 1]), odd, sum[r][v]); });
      });
    } else {
      Floats half[Vectors];
      static_for<0, Vectors>([&](auto v) STORMCELL_UNROLLED { half[v] = low(load(w + v * kLanes)); });
      multiply_half(sum, x, k, half);
      __asm__ volatile("" ::: "memory");  // loads the pairs again rather than keeping them
      static_for<0, Vectors>([&](auto v) STORMCELL_UNROLLED { half[v] = high(load(w + v * kLanes)); });
      multiply_half(sum, x, k + 1, half);
    }
  }
  template <int Rows, int Vectors>
  static STORMCELL_INLINE void multiply_half(Floats (&sum)[Rows][Vectors], const float* const (&x)[Rows], int64_t k,
                                             const Floats (&half)[Vectors]) {
    static_for<0, Rows>([&](auto r) STORMCELL_UNROLLED {
      const Floats a = splat(x[r][k]);
      static_for<0, Vectors>([&](auto v) STORMCELL_UNROLLED { sum[r][v] = fma(a, half[v], sum[r][v]); });
    });
  }
  /// The last k of an odd count: x has nothing beyond it.
  template <int Rows, int Vectors>
  static STORMCELL_INLINE void half_step(Floats (&sum)[Rows][Vectors], const float* const (&x)[Rows], int64_t k,
                                         const float* w) {
    static_for<0, Vectors>([&](auto v) STORMCELL_UNROLLED {
      const Floats even = low(load(w + v * kLanes));
      static_for<0, Rows>([&](auto r) STORMCELL_UNROLLED { sum[r][v] = fma(splat(x[r][k]), even, sum[r][v]); });
    });
  }
};

#ifdef __AVX512BF16__
/// bf16 weights, bf16 rows padded to an even k: two k an instruction, at twice the rate of f32.
struct DotSteps {
  using X = uint16_t;
  static constexpr int kRows = kTileRows;
  static constexpr int kPerStep = 2;
  template <int Rows, int Vectors>
  static STORMCELL_INLINE void step(Floats (&sum)[Rows][Vectors], const uint16_t* const (&x)[Rows], int64_t k,
                                    const float* w) {
    __m512bh b[Vectors];
    static_for<0, Vectors>([&](auto v) STORMCELL_UNROLLED { b[v] = (__m512bh)_mm512_loadu_si512(w + v * kLanes); });
    static_for<0, Rows>([&](auto r) STORMCELL_UNROLLED {
      int32_t pair;
      __builtin_memcpy(&pair, x[r] + k, 4);
      const __m512bh a = (__m512bh)_mm512_set1_epi32(pair);
      static_for<0, Vectors>([&](auto v) STORMCELL_UNROLLED { sum[r][v] = _mm512_dpbf16_ps(sum[r][v], a, b[v]); });
    });
  }
  template <int Rows, int Vectors>
  static STORMCELL_INLINE void half_step(Floats (&)[Rows][Vectors], const uint16_t* const (&)[Rows], int64_t,
                                         const float*) {}
};
#endif

/// The place where a tile fetches ahead, `stride` bytes further at each step. A stride of 0 at the weights themselves
/// fetches nothing.
struct Ahead {
  const char* at;
  int64_t stride;
};

/// Rows x the first `Columns` columns over `steps` steps of 64 weights: tile[r * ld + c] = (first ? 0 : tile[r][c]) +
/// sum. `Lines` cache lines are prefetched a step.
template <class Steps, int Rows, int Lines, int Columns>
__attribute__((noinline)) void multiply_tile(const typename Steps::X* const* rows, const float* weights, int64_t steps,
                                             bool half, bool first, float* tile, int64_t ld, Ahead ahead) {
  constexpr int kVectors = tile_vectors(Rows) < Columns / kLanes ? tile_vectors(Rows) : Columns / kLanes,
                kColumns = kVectors * kLanes;
  const typename Steps::X* x[Rows];
  static_for<0, Rows>([&](auto r) STORMCELL_UNROLLED { x[r] = rows[r]; });
  for (int column = 0; column < Columns; column += kColumns) {
    Floats sum[Rows][kVectors];
    static_for<0, Rows>([&](auto r) STORMCELL_UNROLLED {
      static_for<0, kVectors>(
          [&](auto v) STORMCELL_UNROLLED { sum[r][v] = first ? splat(0) : load(tile + r * ld + column + v * kLanes); });
    });
    const float* w = weights + column;
    int64_t k = 0;
    for (int64_t s = 0; s < steps; ++s, k += Steps::kPerStep, w += kPanel) {
      static_for<0, Lines>([&](auto l) STORMCELL_UNROLLED { prefetch(ahead.at + l * 64); });
      ahead.at += ahead.stride;
      Steps::template step<Rows, kVectors>(sum, x, k, w);
    }
    if (half) Steps::template half_step<Rows, kVectors>(sum, x, k, w);
    static_for<0, Rows>([&](auto r) STORMCELL_UNROLLED {
      static_for<0, kVectors>([&](auto v)
                                  STORMCELL_UNROLLED { store(tile + r * ld + column + v * kLanes, sum[r][v]); });
    });
  }
}

template <class Steps, int Lines, int Columns = kPanel>
STORMCELL_INLINE void multiply_rows(int64_t count, const typename Steps::X* const* rows, const float* weights,
                                    int64_t steps, bool half, bool first, float* tile, int64_t ld, Ahead ahead) {
  static_for<1, Steps::kRows + 1>([&](auto r) STORMCELL_UNROLLED {
    if (count == r) multiply_tile<Steps, r, Lines, Columns>(rows, weights, steps, half, first, tile, ld, ahead);
  });
}

/// One chunk, which begins at k_begin, for all rows of the task. `next` are the next_bytes that are read after it, or
/// null.
template <class Steps>
STORMCELL_INLINE void multiply_chunk(const ProductTask& task, int64_t k_begin, const float* weights, int64_t steps,
                                     bool half, const char* next, int64_t next_bytes) {
  const int64_t blocks = (task.rows + Steps::kRows - 1) / Steps::kRows;
  for (int64_t b = 0; b < blocks; ++b) {  // balanced: 7 rows are 4 + 3, not 6 + 1
    const int64_t row = task.rows * b / blocks, count = task.rows * (b + 1) / blocks - row;
    const typename Steps::X* x[Steps::kRows];
    for (int64_t r = 0; r < count; ++r)
      x[r] = static_cast<const typename Steps::X*>(task.x) + (task.row_of ? task.row_of[row + r] : row + r) * task.ldx +
             k_begin;
    float* tile = task.tile + row * kPanel;
    const bool first = k_begin == 0;
    // This block's share of what comes next, evenly over its steps: 1 line a step is enough from 4 blocks on.
    const int64_t walks = blocks * (kPanel / (tile_vectors(static_cast<int>(count)) * kLanes)) * larger(steps, 1);
    const Ahead ahead = next ? Ahead{next + next_bytes * b / blocks, next_bytes / walks}
                             : Ahead{reinterpret_cast<const char*>(weights), 0};
    if (ahead.stride > 64)
      multiply_rows<Steps, 4>(count, x, weights, steps, half, first, tile, kPanel, ahead);
    else
      multiply_rows<Steps, 1>(count, x, weights, steps, half, first, tile, kPanel, ahead);
  }
}

/// Calls f(first step, steps, next, next_bytes) for each chunk of a panel.
template <class F>
STORMCELL_INLINE void for_chunks(const ProductTask& task, int64_t steps, int64_t chunk_steps, F&& f) {
  const char* panel = reinterpret_cast<const char*>(task.panel);
  int64_t begin = 0;
  do {
    const int64_t chunk = smaller(chunk_steps, steps - begin), left = steps - begin - chunk;
    const char* next = left ? panel + (begin + chunk) * kStepBytes : reinterpret_cast<const char*>(task.next);
    f(begin, chunk, next, smaller(chunk_steps, left ? left : steps) * kStepBytes);
    begin += chunk;
  } while (begin < steps);
}

inline void multiply_panel_f32(const ProductTask& task) {
  for_chunks(task, task.k, kChunkSteps, [&](int64_t begin, int64_t steps, const char* next, int64_t next_bytes) {
    multiply_chunk<F32Steps>(task, begin, reinterpret_cast<const float*>(task.panel) + begin * kPanel, steps, false,
                             next, next_bytes);
  });
}

/// bf16 weights, f32 rows. Up to two blocks of rows widen the weights in registers (8 of 56 vector instructions of a
/// step); more rows share a chunk that is widened once into `widened`, and run at the f32 rate. Same sums in the same
/// order either way.
inline void multiply_panel_widened(const ProductTask& task) {
  alignas(64) float widened[kChunkSteps * kPanel];
  const bool shared = task.rows > 2 * WidenedSteps::kRows;
  for_chunks(task, (task.k + 1) / 2, kChunkSteps / 2,
             [&](int64_t begin, int64_t steps, const char* next, int64_t next_bytes) {
               const float* pairs = reinterpret_cast<const float*>(task.panel) + begin * kPanel;
               const bool half = 2 * (begin + steps) > task.k;
               if (shared) {
                 for (int64_t s = 0; s < steps; ++s)
                   for (int64_t c = 0; c < kPanel; c += kLanes) {
                     const Floats pair = load(pairs + s * kPanel + c);
                     store(widened + 2 * s * kPanel + c, WidenedSteps::low(pair));
                     store(widened + (2 * s + 1) * kPanel + c, WidenedSteps::high(pair));
                   }
                 multiply_chunk<F32Steps>(task, 2 * begin, widened, 2 * steps - half, false, next, next_bytes);
               } else {
                 multiply_chunk<WidenedSteps>(task, 2 * begin, pairs, steps - half, half, next, next_bytes);
               }
             });
}

#ifdef __AVX512BF16__
inline void multiply_panel_dot(const ProductTask& task) {
  for_chunks(task, (task.k + 1) / 2, kChunkSteps,
             [&](int64_t begin, int64_t steps, const char* next, int64_t next_bytes) {
               multiply_chunk<DotSteps>(task, 2 * begin, reinterpret_cast<const float*>(task.panel) + begin * kPanel,
                                        steps, false, next, next_bytes);
             });
}
#endif

}  // namespace stormcell::cpu::STORMCELL_ISA
