// Which block works on what: from the CSR offsets, on the device, to lists of experts by regime, heaviest first, and from a tile's number
// to expert, rows and columns. The host never learns the loads.
#pragma once
#include "gpu/base/execution.h"

namespace stormcell::gpu {

inline constexpr int32_t kMostExperts = 1024;

/// How a product of one expert is computed; decided by its number of rows.
enum class Regime : uint8_t {
  gemv,     ///< few rows: a warp takes some output columns; bound by the weights' bytes
  swapped,  ///< up to 64 rows: weights are the tensor cores' 64-row side, rows their narrow one; bound by the weights' bytes
  large,    ///< 128 rows a tile; bound by the tensor cores
  plain,    ///< any number of rows on any card, without tensor cores; the second opinion
};
inline constexpr int kRegimes = 4;
/// Rows of a tile.
STORMCELL_BOTH constexpr int32_t row_block(Regime regime) { return regime == Regime::gemv ? 8 : regime == Regime::large ? 128 : 64; }

/// Where the regimes change.
struct RegimeLimits {
  int32_t gemv_rows = 8;      ///< most rows of gemv; 0: never
  int32_t swapped_rows = 0;   ///< most rows of swapped, from where on large takes over
  bool tensor_cores = false;  ///< without, plain takes what gemv does not
};
STORMCELL_BOTH constexpr Regime regime_of(int32_t rows, const RegimeLimits& limits) {
  if (rows <= least(limits.gemv_rows, row_block(Regime::gemv))) return Regime::gemv;
  if (!limits.tensor_cores) return Regime::plain;
  return rows <= limits.swapped_rows ? Regime::swapped : Regime::large;
}

/// The experts of one regime, most rows first (equal: lower index), and how many row blocks stand before each.
struct TileList {
  int32_t* count = nullptr;   ///< [1] experts
  int32_t* expert = nullptr;  ///< [kMostExperts]
  int32_t* begin = nullptr;   ///< [kMostExperts + 1]
};
/// The lists of all regimes, in memory of kTileMapInts.
inline constexpr int32_t kTileListInts = 2 * kMostExperts + 2, kTileMapInts = kRegimes * kTileListInts;
STORMCELL_BOTH constexpr TileList tile_list(int32_t* map, Regime regime) {
  int32_t* at = map + static_cast<int>(regime) * kTileListInts;
  return {at, at + 1, at + 1 + kMostExperts};
}

/// One tile of the product.
struct Tile {
  int32_t expert = 0;
  int32_t first = 0, rows = 0;  ///< slots
  int32_t column_block = 0;
};

/// The last entry of begin[0..count] that is at most `row_block`; begin[0] is 0.
STORMCELL_BOTH constexpr int32_t find_expert(const int32_t* begin, int32_t count, int32_t row_block) {
  int32_t low = 0, high = count;  // begin[low] <= row_block < begin[high]
  while (high - low > 1) {
    const int32_t middle = (low + high) / 2;
    if (begin[middle] <= row_block)
      low = middle;
    else
      high = middle;
  }
  return low;
}
/// How many tiles the regime has.
STORMCELL_BOTH constexpr int64_t tiles_of(const TileList& list, int32_t column_blocks) {
  return static_cast<int64_t>(list.begin[*list.count]) * column_blocks;
}
/// Tile `t`: experts in the list's order; within one the rows run fastest, so that neighbours share a panel of weights.
STORMCELL_BOTH constexpr Tile find_tile(const TileList& list, const int32_t* offsets, int32_t column_blocks, int32_t rows_a_tile,
                                        int64_t t) {
  const auto place = find_expert(list.begin, *list.count, static_cast<int32_t>(t / column_blocks));
  const int32_t expert = list.expert[place], blocks = list.begin[place + 1] - list.begin[place];
  const auto within = static_cast<int32_t>(t - static_cast<int64_t>(list.begin[place]) * column_blocks);
  Tile tile;
  tile.expert = expert;
  tile.column_block = within / blocks;
  tile.first = offsets[expert] + within % blocks * rows_a_tile;
  tile.rows = least(rows_a_tile, offsets[expert + 1] - tile.first);
  return tile;
}

struct TileMapArgs {
  const int32_t* offsets = nullptr;  ///< [experts + 1]
  int32_t experts = 1;
  RegimeLimits limits;
  int32_t* map = nullptr;  ///< [kTileMapInts]
};

/// One block. Every expert counts those that come before it: experts^2 comparisons, in shared memory, are less than a sort's barriers.
template <int kThreads_>
struct TileMapBlock {
  using Args = TileMapArgs;
  static constexpr int kThreads = kThreads_;
  struct Shared {
    int32_t rows[kMostExperts];
    uint8_t regime[kMostExperts];
    int32_t experts[kRegimes], blocks[kRegimes];
  };

  template <class X>
  STORMCELL_DEVICE static void run(X& x, const Args& a) {
    Shared& shared = x.template shared<Shared>();
    if (x.thread() < kRegimes) shared.experts[x.thread()] = shared.blocks[x.thread()] = 0;
    for (int32_t e = x.thread(); e < a.experts; e += kThreads) {
      shared.rows[e] = a.offsets[e + 1] - a.offsets[e];
      shared.regime[e] = static_cast<uint8_t>(regime_of(shared.rows[e], a.limits));
    }
    x.sync();
    for (int32_t e = x.thread(); e < a.experts; e += kThreads)
      if (shared.rows[e] > 0) enlist(x, a, shared, e);
    x.sync();
    if (x.thread() < kRegimes) {
      const TileList list = tile_list(a.map, static_cast<Regime>(x.thread()));
      *list.count = shared.experts[x.thread()];
      list.begin[shared.experts[x.thread()]] = shared.blocks[x.thread()];
    }
  }

 private:
  template <class X>
  STORMCELL_DEVICE static void enlist(X& x, const Args& a, Shared& shared, int32_t e) {
    const auto regime = static_cast<Regime>(shared.regime[e]);
    const int32_t rows = shared.rows[e], size = row_block(regime);
    int32_t place = 0, begin = 0;
    for (int32_t other = 0; other < a.experts; ++other) {
      const int32_t others = shared.rows[other];
      if (others == 0 || shared.regime[other] != shared.regime[e]) continue;
      if (others > rows || (others == rows && other < e)) ++place, begin += parts(others, size);
    }
    const TileList list = tile_list(a.map, regime);
    list.expert[place] = e;
    list.begin[place] = begin;
    x.add(&shared.experts[static_cast<int>(regime)], 1);
    x.add(&shared.blocks[static_cast<int>(regime)], parts(rows, size));
  }
};
using TileMapKernel = TileMapBlock<1024>;

}  // namespace stormcell::gpu
