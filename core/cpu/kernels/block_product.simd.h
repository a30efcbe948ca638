// A block of rows times rows of weights in blocks, as a file holds them.
//
// Limit: for one row of x the larger of reading the blocks and expanding them; for many rows the FMA ports. Up to
// kFewRows rows share what is expanded in registers; more rows share what is expanded into L1. Every sum is one chain
// of vectors over k, whose lanes are added at the end: results do not depend on the number of rows.
#pragma once
#include "core/cpu/kernels/blocks.simd.h"
#include "core/cpu/kernels/kernel_table.h"

namespace stormcell::cpu::STORMCELL_ISA {

/// Columns that are computed side by side. Their chains are independent: together they hide the latency of the FMA.
inline constexpr int kBlockColumns = 4;
inline constexpr int kFewRows = 4;
/// Elements of a column between two looks at the next one.
inline constexpr int64_t kBlockStep = 256;

STORMCELL_INLINE const float* row_of_task(const ProductTask& task, int64_t r) {
  return static_cast<const float*>(task.x) + (task.row_of ? task.row_of[r] : r) * task.ldx;
}

template <class Block, int Rows>
__attribute__((noinline)) void multiply_few_rows(const ProductTask& task) {
  const int64_t row_bytes = task.k / Block::kElements * Block::kBytes;
  const float* x[Rows];
  static_for<0, Rows>([&](auto r) STORMCELL_UNROLLED { x[r] = row_of_task(task, r); });
  for (int64_t column = 0; column < task.columns; column += kBlockColumns) {
    const int64_t columns = smaller(kBlockColumns, task.columns - column);
    const std::byte* weights = task.panel + column * row_bytes;
    // The next columns: they follow, or are those of the next panel.
    const std::byte* ahead = column + kBlockColumns < task.columns ? weights + kBlockColumns * row_bytes : task.next;
    if (!ahead) ahead = weights;
    alignas(64) float sums[kBlockColumns][Rows][kLanes] = {};
    for (int64_t k = 0; k < task.k; k += kBlockStep) {
      const int64_t end = smaller(task.k, k + kBlockStep), skipped = k / Block::kElements * Block::kBytes;
      for (int64_t c = 0; c < columns; ++c) {
        const std::byte* block = weights + c * row_bytes + skipped;
        const char* coming = reinterpret_cast<const char*>(ahead + c * row_bytes + skipped);
        for (int byte = 0; byte < kBlockStep / Block::kElements * Block::kBytes; byte += 64) prefetch(coming + byte);
        Floats sum[Rows];
        static_for<0, Rows>([&](auto r) STORMCELL_UNROLLED { sum[r] = load(sums[c][r]); });
        for (int64_t i = k; i < end; i += Block::kElements, block += Block::kBytes)
          Block::visit(block, [&](int at, Floats w) STORMCELL_UNROLLED {
            static_for<0, Rows>([&](auto r) STORMCELL_UNROLLED { sum[r] = fma(w, load(x[r] + i + at), sum[r]); });
          });
        static_for<0, Rows>([&](auto r) STORMCELL_UNROLLED { store(sums[c][r], sum[r]); });
      }
    }
    for (int64_t c = 0; c < columns; ++c)
      for (int r = 0; r < Rows; ++r) task.tile[r * 64 + column + c] = sum_lanes(load(sums[c][r]));
  }
}

/// Elements of a column that are expanded at a time: those of all columns take 8 KiB.
inline constexpr int64_t kExpandedStep = 512;
/// Rows of x that are multiplied at a time: as many sums as the registers hold.
inline constexpr int kDotRows = STORMCELL_SIMD_BITS == 512 ? 6 : STORMCELL_SIMD_BITS == 256 ? 3 : 2;
/// Rows that share what is expanded; their sums take 24 KiB at most.
inline constexpr int64_t kSharingRows = 96;

/// n elements, from element k of x on, times those of the columns: sums[r][c] begins at 0 or goes on.
template <int Rows>
__attribute__((noinline)) void multiply_expanded(const float* const* rows, int64_t k, const float* expanded, int64_t n,
                                                 float* sums) {
  const float* x[Rows];
  Floats sum[Rows][kBlockColumns];
  static_for<0, Rows>([&](auto r) STORMCELL_UNROLLED {
    x[r] = rows[r] + k;
    static_for<0, kBlockColumns>([&](auto c) STORMCELL_UNROLLED {
      sum[r][c] = k == 0 ? splat(0) : load(sums + (r * kBlockColumns + c) * kLanes);
    });
  });
  for (int64_t i = 0; i < n; i += kLanes) {
    Floats w[kBlockColumns];
    static_for<0, kBlockColumns>([&](auto c) STORMCELL_UNROLLED { w[c] = load(expanded + c * kExpandedStep + i); });
    static_for<0, Rows>([&](auto r) STORMCELL_UNROLLED {
      const Floats a = load(x[r] + i);
      static_for<0, kBlockColumns>([&](auto c) STORMCELL_UNROLLED { sum[r][c] = fma(w[c], a, sum[r][c]); });
    });
  }
  static_for<0, Rows>([&](auto r) STORMCELL_UNROLLED {
    static_for<0, kBlockColumns>([&](auto c)
                                     STORMCELL_UNROLLED { store(sums + (r * kBlockColumns + c) * kLanes, sum[r][c]); });
  });
}

/// Rows [first, first + rows) of the task.
template <class Block>
STORMCELL_INLINE void multiply_many_rows(const ProductTask& task, int64_t first, int64_t rows) {
  const int64_t row_bytes = task.k / Block::kElements * Block::kBytes, parts = (rows + kDotRows - 1) / kDotRows;
  alignas(64) float expanded[kBlockColumns * kExpandedStep] = {}, sums[kSharingRows * kBlockColumns * kLanes];
  for (int64_t column = 0; column < task.columns; column += kBlockColumns) {
    const int64_t columns = smaller(kBlockColumns, task.columns - column);
    for (int64_t k = 0; k < task.k; k += kExpandedStep) {
      const int64_t n = smaller(kExpandedStep, task.k - k);
      for (int64_t c = 0; c < columns; ++c)
        expand_blocks<Block>(task.panel + (column + c) * row_bytes + k / Block::kElements * Block::kBytes, n,
                             expanded + c * kExpandedStep);
      for (int64_t part = 0; part < parts; ++part) {  // balanced: 7 rows are 4 + 3, not 6 + 1
        const int64_t row = rows * part / parts, count = rows * (part + 1) / parts - row;
        const float* x[kDotRows];
        for (int64_t r = 0; r < count; ++r) x[r] = row_of_task(task, first + row + r);
        static_for<1, kDotRows + 1>([&](auto r) STORMCELL_UNROLLED {
          if (count == r) multiply_expanded<r>(x, k, expanded, n, sums + row * kBlockColumns * kLanes);
        });
      }
    }
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c)
        task.tile[(first + r) * 64 + column + c] = sum_lanes(load(sums + (r * kBlockColumns + c) * kLanes));
  }
}

template <class Block>
inline void multiply_blocks(const ProductTask& task) {
  if (task.rows <= kFewRows) {
    static_for<1, kFewRows + 1>([&](auto r) STORMCELL_UNROLLED {
      if (task.rows == r) multiply_few_rows<Block, r>(task);
    });
    return;
  }
  for (int64_t first = 0; first < task.rows; first += kSharingRows)
    multiply_many_rows<Block>(task, first, smaller(kSharingRows, task.rows - first));
}

template <class Block>
inline BlockKernels block_kernels() {
  return {expand_blocks<Block>, multiply_blocks<Block>};
}

}  // namespace stormcell::cpu::STORMCELL_ISA
