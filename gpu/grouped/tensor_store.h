// How the tensor-core kernels' consumers store their sums: through the epilogue, neighbouring numbers together.
#pragma once
#include "gpu/grouped/tensor_shape.h"
#include "gpu/grouped/transpose.h"

namespace stormcell::gpu {

/// By all 128 threads of a warpgroup. Rows of the sums are columns of y, their columns are slots. A thread's two slots of a group of eight,
/// at two columns eight apart.
template <int kNarrow, int kPanels, class X>
STORMCELL_DEVICE void store_swapped(X& x, const ProductArgs<Bf16>& a, const Tile& tile, int thread,
                                    const float (&sum)[kPanels][kNarrow / 2]) {
  STORMCELL_UNROLL
  for (int i = 0; i < kNarrow / 8; ++i) {
    STORMCELL_UNROLL
    for (int below = 0; below < 2; ++below) {
      const int32_t c = tile.column_block * SwappedShape<kPanels>::kColumns + sum_row(thread, 2 * below);
      float value[2];
      STORMCELL_UNROLL
      for (int second = 0; second < 2; ++second) {
        const int at = i * 4 + below * 2 + second;
        const int32_t row = sum_column(thread, at);
        value[second] = 0;
        if (c < a.n && row < tile.rows) {
          float all[kPanels];
          STORMCELL_UNROLL
          for (int p = 0; p < kPanels; ++p) all[p] = sum[p][at];
          value[second] = a.finish(tile.expert, c, all, a.slot_weight(tile.first + row));
        }
      }
      const uint32_t two = pair_columns(x, value[0], value[1]);
      const int upper = thread / 4 % 2;
      const int32_t row = sum_column(thread, i * 4) + upper, column = c - upper;
      if (row < tile.rows && column < a.n) *reinterpret_cast<uint32_t*>(a.y + a.target_row(tile.first + row) * a.n + column) = two;
    }
  }
}

/// By all 128 threads of warpgroup `group` of two, which has rows 64 * group to 64 * group + 63 of the tile; sum[half] are the columns of
/// 128 rows of weights: with a gate those of a panel.
template <int kPanels, class X>
STORMCELL_DEVICE void store_large(X& x, const ProductArgs<Bf16>& a, const Tile& tile, int group, int thread, const float (&sum)[2][64]) {
  constexpr int kHalf = 128;
  const int quad = thread % 4;
  const int32_t first_column = tile.column_block * LargeShape<kPanels>::kColumns;
  STORMCELL_UNROLL
  for (int below = 0; below < 2; ++below) {  // this thread's two rows, eight apart
    const int32_t row = group * 64 + sum_row(thread, 2 * below);
    const int32_t slot = tile.first + least(row, tile.rows - 1);
    Bf16* y = a.y + a.target_row(slot) * a.n;
    const float weight = a.slot_weight(slot);
    STORMCELL_UNROLL
    for (int half = 0; half < (kPanels == 2 ? 1 : 2); ++half) {
      STORMCELL_UNROLL
      for (int part = 0; part < kHalf / 32; ++part) {  // 32 columns: a word of each of four groups of eight columns a thread
        uint32_t word[4];
        STORMCELL_UNROLL
        for (int i = 0; i < 4; ++i) {
          const int at = (part * 4 + i) * 4 + below * 2;
          const int32_t c = first_column + half * kHalf + sum_column(thread, at);
          float low = 0, high = 0;
          if (c < a.n) {
            if constexpr (kPanels == 2) {
              const float first[2] = {sum[0][at], sum[1][at]}, second[2] = {sum[0][at + 1], sum[1][at + 1]};
              low = a.finish(tile.expert, c, first, weight), high = a.finish(tile.expert, c + 1, second, weight);
            } else {
              const float first[1] = {sum[half][at]}, second[1] = {sum[half][at + 1]};
              low = a.finish(tile.expert, c, first, weight), high = a.finish(tile.expert, c + 1, second, weight);
            }
          }
          word[i] = two_bf16(low, high);
        }
        transpose_quad(x, word);
        const int32_t column = first_column + half * kHalf + part * 32 + quad * 8;
        if (row < tile.rows && column < a.n) *reinterpret_cast<Sixteen*>(y + column) = {word[0], word[1], word[2], word[3]};
      }
    }
  }
}

}  // namespace stormcell::gpu
