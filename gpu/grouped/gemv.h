// Few rows an expert: a warp takes four rows of weights (four columns of y, or two with a gate), reads each once,
// sixteen bytes a lane, and multiplies it with all rows of x. Organised by outputs, so it fills a card whatever the
// number of experts. Bound: the weights' bytes.
#pragma once
#include "gpu/dispatch/rows.h"
#include "gpu/grouped/epilogue.h"
#include "gpu/grouped/tile_map.h"

namespace stormcell::gpu {

/// k * sizeof(T) is a multiple of 16, x and w are aligned to it.
template <class T, int kPanels>
struct GemvKernel {
  using Args = ProductArgs<T>;
  using Shared = Nothing;
  static constexpr int kBlocks = 2;  // so that 16 warps' loads are under way a multiprocessor
  static constexpr int kThreads = 256, kStreams = 4, kColumns = kStreams / kPanels;

  template <class X>
  STORMCELL_DEVICE static void run(X& x, const Args& a) {
    const TileList list = tile_list(a.map, Regime::gemv);
    const int32_t column_blocks = parts(a.n, kColumns);
    const int64_t units = tiles_of(list, column_blocks);
    const int64_t warp = static_cast<int64_t>(x.block()) * (kThreads / 32) + x.thread() / 32,
                  warps = static_cast<int64_t>(x.blocks()) * (kThreads / 32);
    for (int64_t u = warp; u < units; u += warps) {
      const Tile tile = find_tile(list, a.offsets, column_blocks, row_block(Regime::gemv), u);
      if (tile.rows == 1)
        multiply<1>(x, a, tile);
      else if (tile.rows == 2)
        multiply<2>(x, a, tile);
      else if (tile.rows <= 4)
        multiply<4>(x, a, tile);
      else
        multiply<8>(x, a, tile);
    }
  }

 private:
  static constexpr int kNumbers = Piece<T>::kNumbers;

  template <int kRows, class X>
  STORMCELL_DEVICE static void multiply(X& x, const Args& a, const Tile& tile) {
    const int lane = x.thread() % 32;
    const int32_t first_column = tile.column_block * kColumns;
    const int32_t pieces = a.k / kNumbers;
    const Sixteen* w[kStreams];  // stream p * kColumns + c: panel p of column c; past the last column the last again
    STORMCELL_UNROLL
    for (int s = 0; s < kStreams; ++s) {
      const int32_t column = least(first_column + s % kColumns, a.n - 1);
      const int64_t row = (static_cast<int64_t>(tile.expert) * kPanels + s / kColumns) * a.n + column;
      w[s] = reinterpret_cast<const Sixteen*>(a.w + row * a.k);
    }
    const Sixteen* rows[kRows];
    STORMCELL_UNROLL
    for (int r = 0; r < kRows; ++r)
      rows[r] = reinterpret_cast<const Sixteen*>(a.x + a.source_row(tile.first + least(r, tile.rows - 1)) * a.k);

    float sum[kStreams][kRows] = {};
    STORMCELL_UNROLL_BY((kRows == 8 ? 1 : 2))  // 128 registers hold no more
    for (int32_t p = lane; p < pieces; p += 32) {
      Sixteen weights[kStreams];
      STORMCELL_UNROLL
      for (int s = 0; s < kStreams; ++s) weights[s] = x.load_once(w[s] + p);
      STORMCELL_UNROLL
      for (int r = 0; r < kRows; ++r) {
        const Sixteen numbers = rows[r][p];
        STORMCELL_UNROLL
        for (int i = 0; i < kNumbers; ++i) {
          const float value = Piece<T>::get(numbers, i);
          STORMCELL_UNROLL
          for (int s = 0; s < kStreams; ++s) sum[s][r] += Piece<T>::get(weights[s], i) * value;
        }
      }
    }
    // Lane c * kRows + r stores column c of row r.
    float mine[kPanels] = {};
    STORMCELL_UNROLL
    for (int s = 0; s < kStreams; ++s) {
      STORMCELL_UNROLL
      for (int r = 0; r < kRows; ++r) {
        float all = sum[s][r];
        STORMCELL_UNROLL
        for (int mask = 16; mask > 0; mask /= 2) all += x.shuffle_xor(all, mask);
        if (lane == s % kColumns * kRows + r) mine[s / kColumns] = all;
      }
    }
    const int32_t column = first_column + lane / kRows, r = lane % kRows;
    if (lane >= kColumns * kRows || column >= a.n || r >= tile.rows) return;
    const int32_t slot = tile.first + r;
    a.y[a.target_row(slot) * a.n + column] = number<T>(a.finish(tile.expert, column, mine, a.slot_weight(slot)));
  }
};

}  // namespace stormcell::gpu
