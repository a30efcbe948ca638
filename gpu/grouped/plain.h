// The plain grouped product: 64 x 64 tiles through shared memory, sums in float. Written to be read; it runs on every
// card and on the emulator and is the second opinion on the faster kernels. Bound: floating-point units.
#pragma once
#include "gpu/grouped/epilogue.h"
#include "gpu/grouped/tile_map.h"

namespace stormcell::gpu {

/// The work of one tile. kPanels: 2 with a gate, else 1. The arguments give the rows and weights of an expert and
/// finish a sum (ProductArgs, or those of a plan: planned_product.h).
template <int kPanels>
struct PlainTile {
  static constexpr int kThreads = 256, kRows = 64, kColumns = 64, kDepth = 16;
  struct Shared {
    float x[kDepth][kRows + 4];
    float w[kPanels][kDepth][kColumns + 4];
  };

  template <class X, class Args>
  STORMCELL_DEVICE static void compute(X& x, const Args& a, const Tile& tile) {
    Shared& shared = x.template shared<Shared>();
    const int32_t first_column = tile.column_block * kColumns;
    const auto* w = a.template weights_of<kPanels>(tile.expert);
    // A thread sums rows 4 * (thread / 16) + i and columns 4 * (thread % 16) + j.
    const int my_row = x.thread() / 16 * 4, my_column = x.thread() % 16 * 4;
    float sum[4][4][kPanels] = {};
    for (int32_t depth = 0; depth < a.k; depth += kDepth) {
      for (int i = x.thread(); i < kRows * kDepth; i += kThreads) {
        const int row = i / kDepth, d = i % kDepth;
        const bool inside = row < tile.rows && depth + d < a.k;
        shared.x[d][row] = inside ? number(a, tile.first + row, depth + d) : 0.0f;
      }
      for (int i = x.thread(); i < kColumns * kDepth; i += kThreads) {
        const int column = i / kDepth, d = i % kDepth;
        const bool inside = first_column + column < a.n && depth + d < a.k;
        for (int p = 0; p < kPanels; ++p)
          shared.w[p][d][column] =
              inside ? to_float(w[(static_cast<int64_t>(p) * a.n + first_column + column) * a.k + depth + d]) : 0.0f;
      }
      x.sync();
      for (int d = 0; d < kDepth; ++d) {
        STORMCELL_UNROLL
        for (int i = 0; i < 4; ++i) {
          STORMCELL_UNROLL
          for (int j = 0; j < 4; ++j) {
            STORMCELL_UNROLL
            for (int p = 0; p < kPanels; ++p) sum[i][j][p] += shared.x[d][my_row + i] * shared.w[p][d][my_column + j];
          }
        }
      }
      x.sync();
    }
    STORMCELL_UNROLL
    for (int i = 0; i < 4; ++i) {
      if (my_row + i >= tile.rows) continue;
      const int32_t slot = tile.first + my_row + i;
      const auto to = a.result_of(slot);
      STORMCELL_UNROLL
      for (int j = 0; j < 4; ++j) {
        const int32_t column = first_column + my_column + j;
        if (column < a.n) a.store(to, tile.expert, column, sum[i][j]);
      }
    }
  }

 private:
  /// Number `k` of a row: by the arguments' own function, or in the row's place.
  template <class Args>
  STORMCELL_DEVICE_INLINED static float number(const Args& a, int32_t row, int32_t k) {
    if constexpr (requires { a.number(row, k); })
      return a.number(row, k);
    else
      return to_float(a.x[a.source_row(row) * a.k + k]);
  }
};

template <class T, int kPanels>
struct PlainKernel {
  using Args = ProductArgs<T>;
  using OneTile = PlainTile<kPanels>;
  using Shared = typename OneTile::Shared;
  static constexpr int kThreads = OneTile::kThreads;

  template <class X>
  STORMCELL_DEVICE static void run(X& x, const Args& a) {
    static_assert(OneTile::kRows == row_block(Regime::plain));
    const TileList list = tile_list(a.map, Regime::plain);
    const int32_t column_blocks = parts(a.n, OneTile::kColumns);
    const int64_t tiles = tiles_of(list, column_blocks);
    for (int64_t t = x.block(); t < tiles; t += x.blocks())
      OneTile::compute(x, a, find_tile(list, a.offsets, column_blocks, OneTile::kRows, t));
  }
};

}  // namespace stormcell::gpu
