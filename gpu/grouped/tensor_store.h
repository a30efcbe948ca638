// Stores the sums of the tensor-core kernels' consumers: through the epilogue, neighbouring numbers together. Decisions
// that hold for a whole tile are made before: within a tile nothing branches, and a number outside is not stored.
#pragma once
#include "gpu/grouped/tensor_shape.h"
#include "gpu/grouped/transpose.h"

namespace stormcell::gpu {

/// Two neighbouring floats, 8 bytes.
struct alignas(8) FloatPair {
  float of[2];
};

/// The product of two numbers that are not negative: one instruction.
STORMCELL_BOTH constexpr uint64_t times(int32_t a, int32_t b) {
  return static_cast<uint64_t>(static_cast<uint32_t>(a)) * static_cast<uint32_t>(b);
}

/// The first of a thread's two columns of y in a swapped tile; the other is eight more.
template <int kPanels>
STORMCELL_BOTH constexpr int32_t swapped_column(const Tile& tile, int thread) {
  return tile.column_block * SwappedShape<kPanels>::kColumns + sum_row(thread, 0);
}

/// Data for storing a swapped tile, fetched before its products so that nothing waits for memory after them: a thread's
/// biases; in shared memory of each warp, weights and targets of slots.
template <int kNarrow, int kPanels>
struct SwappedFetched {
  float bias[2][kPanels] = {};
  int32_t left[2];  ///< existing rows from the first that this thread stores, for either column; 0 for a missing column
  WarpSlots* warp_slots;

  /// Called by all 128 threads of a warpgroup after they have stored the tile before.
  template <class X>
  STORMCELL_DEVICE SwappedFetched(X& x, const ProductArgs<Bf16>& a, const Tile& tile, int thread, TileSlots& of_tile)
      : warp_slots(&of_tile.of_warp[thread / 32]) {
    const int32_t c = swapped_column<kPanels>(tile, thread);
    const float* of_column = a.bias ? a.bias + (times(tile.expert, a.n * kPanels) + static_cast<uint32_t>(c)) : nullptr;
    STORMCELL_UNROLL
    for (int below = 0; below < 2; ++below) {
      const bool is_there = c + 8 * below < a.n;
      left[below] = is_there ? tile.rows - sum_column(thread, 0) - thread / 4 % 2 : 0;
      STORMCELL_UNROLL
      for (int p = 0; p < kPanels; ++p)
        if (a.bias && is_there) bias[below][p] = of_column[times(p, a.n) + 8 * below];
    }
    x.sync_warp();
    STORMCELL_UNROLL
    for (int row = thread % 32; row < kNarrow; row += 32) {
      const int32_t slot = tile.first + row;
      const bool is_there = row < tile.rows;
      warp_slots->weight[row] = is_there && a.weight ? a.weight[slot] : 1;
      warp_slots->target[row] = is_there && a.scatter ? a.scatter[slot] : slot;
    }
    x.sync_warp();
  }
};

template <int kNarrow, int kPanels, class E, class X>
STORMCELL_DEVICE void store_swapped(X& x, const ProductArgs<Bf16>& a, const Tile& tile, int thread,
                                    const float (&sum)[kPanels][kNarrow / 2],
                                    const SwappedFetched<kNarrow, kPanels>& before, E epilogue) {
  const int32_t c = swapped_column<kPanels>(tile, thread);
  const int upper = thread / 4 % 2;
  const int32_t first = sum_column(thread, 0);  // row of the sums; eight more a group
  const int32_t row_bytes = a.n * static_cast<int32_t>(sizeof(Bf16));
  char* y = reinterpret_cast<char*>(a.y) + static_cast<uint32_t>(c - upper) * sizeof(Bf16);
  char* to = y + times(tile.first + first + upper, row_bytes);
  const float* weights = before.warp_slots->weight + first;
  const int32_t* targets = before.warp_slots->target + first + upper;
  STORMCELL_UNROLL
  for (int i = 0; i < kNarrow / 8; ++i) {
    FloatPair weight{};
    if constexpr (E::kOfSlots) {
      weight = *reinterpret_cast<const FloatPair*>(weights + i * 8);
      to = row_at(y, targets[i * 8], row_bytes);
    }
    STORMCELL_UNROLL
    for (int below = 0; below < 2; ++below) {
      float value[2];
      STORMCELL_UNROLL
      for (int second = 0; second < 2; ++second) {
        float all[kPanels];
        STORMCELL_UNROLL
        for (int p = 0; p < kPanels; ++p) all[p] = sum[p][i * 4 + below * 2 + second];
        value[second] = epilogue.finish(all, before.bias[below]);
        if constexpr (E::kOfSlots) value[second] *= weight.of[second];
      }
      const uint32_t two = pair_columns(x, two_bf16(value[0], value[1]));
      if (i * 8 < before.left[below]) *reinterpret_cast<uint32_t*>(to + 16 * below) = two;
    }
    if constexpr (!E::kOfSlots) to += times(8, row_bytes);
  }
}
/// Called by all 128 threads of a warpgroup. Rows of the sums are columns of y, their columns are slots. A thread
/// stores its two slots of a group of eight, at two columns eight apart.
template <int kNarrow, int kPanels, class X>
STORMCELL_DEVICE void store_swapped(X& x, const ProductArgs<Bf16>& a, const Tile& tile, int thread,
                                    const float (&sum)[kPanels][kNarrow / 2],
                                    const SwappedFetched<kNarrow, kPanels>& before) {
  with_epilogue<kPanels>(
      a, [&](auto epilogue) { store_swapped<kNarrow, kPanels>(x, a, tile, thread, sum, before, epilogue); });
}

template <int kPanels, class E, class X>
STORMCELL_DEVICE void store_large(X& x, const ProductArgs<Bf16>& a, const Tile& tile, int group, int thread,
                                  const float (&sum)[2][64], E epilogue) {
  constexpr int kHalf = 128, kHalves = kPanels == 2 ? 1 : 2;
  const int32_t first_column = tile.column_block * LargeShape<kPanels>::kColumns;
  const int32_t sums_at = first_column + sum_column(thread, 0),
                stored_at = first_column + thread % 2 * 8 + thread % 4 / 2 * 4;
  const float* bias = a.bias ? a.bias + static_cast<int64_t>(tile.expert) * kPanels * a.n + sums_at : nullptr;
  // that are there from this thread's first column on; so of the others
  const int32_t biases = E::kBias && a.bias ? a.n - sums_at : 0;
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
    for (int part = 0; part < kHalf / 16;
         ++part) {  // 16 columns: a word of each of two groups of eight columns a thread and row
      uint32_t word[2][2];
      STORMCELL_UNROLL
      for (int i = 0; i < 2; ++i) {
        const int column = half * kHalf + part * 16 + i * 8;
        float of_column[2][kPanels] = {};
        if constexpr (E::kBias) {
          STORMCELL_UNROLL
          for (int p = 0; p < kPanels; ++p) {
            FloatPair pair{};
            if (column < biases)
              pair = *reinterpret_cast<const FloatPair*>(bias + static_cast<int64_t>(p) * a.n + column);
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
          *reinterpret_cast<uint64_t*>(y[below] + column) =
              static_cast<uint64_t>(word[below][1]) << 32 | word[below][0];
      }
    }
  }
}
/// Called by all 128 threads of warpgroup `group` of two, which has rows 64 * group to 64 * group + 63 of the tile;
/// sum[half] has the columns of 128 rows of weights: with a gate those of a panel.
template <int kPanels, class X>
STORMCELL_DEVICE void store_large(X& x, const ProductArgs<Bf16>& a, const Tile& tile, int group, int thread,
                                  const float (&sum)[2][64]) {
  with_epilogue<kPanels>(a, [&](auto epilogue) { store_large<kPanels>(x, a, tile, group, thread, sum, epilogue); });
}

}  // namespace stormcell::gpu
