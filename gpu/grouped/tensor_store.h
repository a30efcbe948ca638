// How the tensor-core kernels' consumers store their sums: through the epilogue, neighbouring numbers together. Everything that a tile
// decides once is decided before: within a tile nothing branches, a number outside is not stored.
#pragma once
#include "gpu/grouped/tensor_shape.h"
#include "gpu/grouped/transpose.h"

namespace stormcell::gpu {

/// Two neighbouring biases, 8 bytes.
struct alignas(8) BiasPair {
  float of[2];
};

template <int kNarrow, int kPanels, class E, class X>
STORMCELL_DEVICE void store_swapped(X& x, const ProductArgs<Bf16>& a, const Tile& tile, int thread,
                                    const float (&sum)[kPanels][kNarrow / 2], E epilogue) {
  const int32_t c = tile.column_block * SwappedShape<kPanels>::kColumns + sum_row(thread, 0);  // and c + 8
  const int upper = thread / 4 % 2;
  float bias[2][kPanels] = {};
  if constexpr (E::kBias) {
    STORMCELL_UNROLL
    for (int below = 0; below < 2; ++below) {
      STORMCELL_UNROLL
      for (int p = 0; p < kPanels; ++p)
        if (a.bias) bias[below][p] = a.bias[(static_cast<int64_t>(tile.expert) * kPanels + p) * a.n + least(c + 8 * below, a.n - 1)];
    }
  }
  Bf16* y = a.y + c - upper;
  const int32_t first = sum_column(thread, 0);  // row of the sums; eight more a group
  const int32_t weights = a.weight ? tile.rows - first : 0, targets = a.scatter ? tile.rows - first - upper : 0;  // rows that have one
  const float* weight_of = a.weight ? a.weight + tile.first + first : nullptr;
  const int32_t* target_of = a.scatter ? a.scatter + tile.first + first + upper : nullptr;
  Bf16* to = y + static_cast<int64_t>(tile.first + first + upper) * a.n;
  STORMCELL_UNROLL
  for (int i = 0; i < kNarrow / 8; ++i, to += 8 * static_cast<int64_t>(a.n)) {
    const int32_t mine = first + i * 8 + upper;  // the row that is stored here
    float weight[2] = {1, 1};
    if constexpr (E::kOfSlots) {
      STORMCELL_UNROLL
      for (int second = 0; second < 2; ++second)
        if (i * 8 + second < weights) weight[second] = weight_of[i * 8 + second];
      if (i * 8 < targets) to = y + static_cast<int64_t>(target_of[i * 8]) * a.n;
    }
    const int32_t left = mine < tile.rows ? a.n - c : 0;  // columns that are there from c on
    STORMCELL_UNROLL
    for (int below = 0; below < 2; ++below) {
      float value[2];
      STORMCELL_UNROLL
      for (int second = 0; second < 2; ++second) {
        float all[kPanels];
        STORMCELL_UNROLL
        for (int p = 0; p < kPanels; ++p) all[p] = sum[p][i * 4 + below * 2 + second];
        value[second] = epilogue.finish(all, bias[below]);
        if constexpr (E::kOfSlots) value[second] *= weight[second];
      }
      const uint32_t two = pair_columns(x, two_bf16(value[0], value[1]));
      if (8 * below < left) *reinterpret_cast<uint32_t*>(to + 8 * below) = two;
    }
  }
}
/// By all 128 threads of a warpgroup. Rows of the sums are columns of y, their columns are slots. A thread's two slots of a group of eight,
/// at two columns eight apart.
template <int kNarrow, int kPanels, class X>
STORMCELL_DEVICE void store_swapped(X& x, const ProductArgs<Bf16>& a, const Tile& tile, int thread,
                                    const float (&sum)[kPanels][kNarrow / 2]) {
  with_epilogue<kPanels>(a, [&](auto epilogue) { store_swapped<kNarrow, kPanels>(x, a, tile, thread, sum, epilogue); });
}

template <int kPanels, class E, class X>
STORMCELL_DEVICE void store_large(X& x, const ProductArgs<Bf16>& a, const Tile& tile, int group, int thread, const float (&sum)[2][64],
                                  E epilogue) {
  constexpr int kHalf = 128, kHalves = kPanels == 2 ? 1 : 2;
  const int32_t first_column = tile.column_block * LargeShape<kPanels>::kColumns;
  const int32_t sums_at = first_column + sum_column(thread, 0), stored_at = first_column + thread % 2 * 8 + thread % 4 / 2 * 4;
  const float* bias = a.bias ? a.bias + static_cast<int64_t>(tile.expert) * kPanels * a.n + sums_at : nullptr;
  const int32_t biases = E::kBias && a.bias ? a.n - sums_at : 0;  // that are there from this thread's first column on; so of the others
  Bf16* y[2];
  float weight[2] = {1, 1};
  int32_t left[2];
  STORMCELL_UNROLL
  for (int below = 0; below < 2; ++below) {  // this thread's two rows, eight apart
    const int32_t row = group * 64 + sum_row(thread, 2 * below), slot = tile.first + least(row, tile.rows - 1);
    left[below] = row < tile.rows ? a.n - stored_at : 0;
    y[below] = a.y + stored_at;
    if constexpr (E::kOfSlots) {
      y[below] += a.target_row(slot) * a.n;
      weight[below] = a.slot_weight(slot);
    } else {
      y[below] += static_cast<int64_t>(slot) * a.n;
    }
  }
  STORMCELL_UNROLL
  for (int half = 0; half < kHalves; ++half) {
    STORMCELL_UNROLL
    for (int part = 0; part < kHalf / 16; ++part) {  // 16 columns: a word of each of two groups of eight columns a thread and row
      uint32_t word[2][2];
      STORMCELL_UNROLL
      for (int i = 0; i < 2; ++i) {
        const int column = half * kHalf + part * 16 + i * 8;
        float of_column[2][kPanels] = {};
        if constexpr (E::kBias) {
          STORMCELL_UNROLL
          for (int p = 0; p < kPanels; ++p) {
            BiasPair pair{};
            if (column < biases) pair = *reinterpret_cast<const BiasPair*>(bias + static_cast<int64_t>(p) * a.n + column);
            of_column[0][p] = pair.of[0], of_column[1][p] = pair.of[1];
          }
        }
        STORMCELL_UNROLL
        for (int below = 0; below < 2; ++below) {
          float value[2];
          STORMCELL_UNROLL
          for (int second = 0; second < 2; ++second) {
            const int at = (part * 2 + i) * 4 + below * 2 + second;
            float all[kPanels];
            if constexpr (kPanels == 2)
              all[0] = sum[0][at], all[1] = sum[1][at];
            else
              all[0] = sum[half][at];
            value[second] = epilogue.finish(all, of_column[second]);
            if constexpr (E::kOfSlots) value[second] *= weight[below];
          }
          word[below][i] = two_bf16(value[0], value[1]);
        }
      }
      STORMCELL_UNROLL
      for (int below = 0; below < 2; ++below) {
        pair_words(x, word[below]);
        const int column = half * kHalf + part * 16;
        if (column < left[below])
          *reinterpret_cast<uint64_t*>(y[below] + column) = static_cast<uint64_t>(word[below][1]) << 32 | word[below][0];
      }
    }
  }
}
/// By all 128 threads of warpgroup `group` of two, which has rows 64 * group to 64 * group + 63 of the tile; sum[half] are the columns of
/// 128 rows of weights: with a gate those of a panel.
template <int kPanels, class X>
STORMCELL_DEVICE void store_large(X& x, const ProductArgs<Bf16>& a, const Tile& tile, int group, int thread, const float (&sum)[2][64]) {
  with_epilogue<kPanels>(a, [&](auto epilogue) { store_large<kPanels>(x, a, tile, group, thread, sum, epilogue); });
}

}  // namespace stormcell::gpu
