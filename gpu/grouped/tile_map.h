// Tile maps: made on the device from the CSR offsets, they list experts by regime, heaviest first, and give expert,
// rows and columns for a tile's number. The host never learns the loads.
#pragma once
#include "gpu/base/execution.h"

namespace stormcell::gpu {

inline constexpr int32_t kMostExperts = 1024;

/// The kernel for a product of one expert, by its number of rows.
enum class Regime : uint8_t {
  gemv,     ///< few rows: a warp takes some output columns; bound by the weights' bytes
  swapped,  ///< up to 64 rows: weights are the tensor cores' 64-row side, rows their narrow one; bound by the weights'
            ///< bytes
  large,    ///< 128 rows a tile; bound by the tensor cores
  plain,    ///< any number of rows on any card, without tensor cores; the second opinion
};
inline constexpr int kRegimes = 4;
/// Rows of a tile: powers of two, so that a kernel finds their number by shifting.
STORMCELL_BOTH constexpr int32_t row_block_bits(Regime regime) {
  return regime == Regime::gemv ? 3 : regime == Regime::large ? 7 : 6;
}
STORMCELL_BOTH constexpr int32_t row_block(Regime regime) { return 1 << row_block_bits(regime); }

/// Limits between the regimes.
struct RegimeLimits {
  int32_t gemv_rows = 8;      ///< most rows of gemv; 0: never
  int32_t swapped_rows = 0;   ///< most rows of swapped; large takes more
  bool tensor_cores = false;  ///< false: plain takes everything beyond gemv
};
STORMCELL_BOTH constexpr Regime regime_of(int32_t rows, const RegimeLimits& limits) {
  if (rows <= least(limits.gemv_rows, row_block(Regime::gemv))) return Regime::gemv;
  if (!limits.tensor_cores) return Regime::plain;
  return rows <= limits.swapped_rows ? Regime::swapped : Regime::large;
}

/// The experts of one regime, most rows first (equal: lower index), and the row blocks before each.
struct TileList {
  int32_t* count = nullptr;   ///< [1] experts
  int32_t* expert = nullptr;  ///< [kMostExperts]
  int32_t* begin = nullptr;   ///< [kMostExperts + 1]
};
/// The lists of all regimes, in memory of kTileMapInts; the last number is the largest row count of any expert.
inline constexpr int32_t kTileListInts = 2 * kMostExperts + 2, kTileMapInts = kRegimes * kTileListInts + 1;
STORMCELL_BOTH constexpr TileList tile_list(int32_t* map, Regime regime) {
  int32_t* at = map + static_cast<int>(regime) * kTileListInts;
  return {at, at + 1, at + 1 + kMostExperts};
}

/// [1] Rows of the expert that has most.
STORMCELL_BOTH constexpr int32_t* most_rows_of(int32_t* map) { return map + kRegimes * kTileListInts; }

/// One tile of the product.
struct Tile {
  int32_t expert = 0;
  int32_t first = 0, rows = 0;  ///< slots
  int32_t column_block = 0;
};

/// The last entry of begin[0..count] whose first tile is at most `t`; begin[0] is 0.
STORMCELL_BOTH constexpr int32_t find_expert(const int32_t* begin, int32_t count, int32_t column_blocks, int64_t t) {
  int32_t low = 0, high = count;  // begin[low] * column_blocks <= t < begin[high] * column_blocks
  while (high - low > 1) {
    const int32_t middle = (low + high) / 2;
    if (static_cast<int64_t>(begin[middle]) * column_blocks <= t)
      low = middle;
    else
      high = middle;
  }
  return low;
}
/// The number of tiles of the regime.
STORMCELL_BOTH constexpr int64_t tiles_of(const TileList& list, int32_t column_blocks) {
  return static_cast<int64_t>(list.begin[*list.count]) * column_blocks;
}
/// Tile `t`: experts in the list's order; within one the rows run fastest, so that neighbours share a panel of weights.
STORMCELL_BOTH constexpr Tile find_tile(const TileList& list, const int32_t* offsets, int32_t column_blocks,
                                        int32_t rows_a_tile, int64_t t) {
  const auto place = find_expert(list.begin, *list.count, column_blocks, t);
  const int32_t expert = list.expert[place], blocks = list.begin[place + 1] - list.begin[place];
  const auto within = static_cast<int32_t>(t - static_cast<int64_t>(list.begin[place]) * column_blocks);
  Tile tile;
  tile.expert = expert;
  tile.column_block = blocks == 1 ? within : within / blocks;
  tile.first = offsets[expert] + (within - tile.column_block * blocks) * rows_a_tile;
  tile.rows = least(rows_a_tile, offsets[expert + 1] - tile.first);
  return tile;
}

/// body(t) for the tiles of a list that are a block's: `next`, next + step, ... Afterwards `next` is in the list behind
/// it, so that several lists are dealt out to the blocks of a launch as if they were one.
template <class Body>
STORMCELL_BOTH constexpr void take_tiles(int64_t& next, int64_t step, int64_t tiles, const Body& body) {
  for (; next < tiles; next += step) body(next);
  next -= tiles;
}

struct TileMapArgs {
  const int32_t* offsets = nullptr;  ///< [experts + 1]
  int32_t experts = 1;
  RegimeLimits limits;
  int32_t* map = nullptr;  ///< [kTileMapInts]
};

/// Run by one block. Every expert counts those before it, in one pass over all of them in shared memory: so many
/// comparisons a thread cost less than a sort's barriers. Regimes depend on the rows, so in the order of rows each
/// regime's experts are consecutive: only the beginning of each regime must be subtracted.
template <int kThreads_>
struct TileMapBlock {
  using Args = TileMapArgs;
  static constexpr int kThreads = kThreads_;
  static_assert(kMostExperts % kThreads == 0);
  struct alignas(8) Expert {
    int32_t rows, blocks;
  };
  struct Shared {
    Expert expert[kMostExperts];
    int32_t experts_of[kRegimes], blocks_of[kRegimes];          ///< all of a regime
    int32_t experts_before[kRegimes], blocks_before[kRegimes];  ///< of the regimes of more rows
  };

  template <class X>
  STORMCELL_DEVICE static void run(X& x, const Args& a) {
    if constexpr (kThreads < kMostExperts)
      if (a.experts > kThreads) return run_holding<kMostExperts / kThreads>(x, a);
    run_holding<1>(x, a);
  }

 private:
  /// kHeld: experts of a thread.
  template <int kHeld, class X>
  STORMCELL_DEVICE static void run_holding(X& x, const Args& a) {
    Shared& shared = x.template shared<Shared>();
    if (x.thread() < kRegimes) shared.experts_of[x.thread()] = shared.blocks_of[x.thread()] = 0;
    int32_t rows[kHeld], place[kHeld], begin[kHeld];
    Regime regime[kHeld];
    STORMCELL_UNROLL
    for (int i = 0; i < kHeld; ++i) {
      const int32_t e = x.thread() + i * kThreads;
      rows[i] = e < a.experts ? a.offsets[e + 1] - a.offsets[e] : 0;
      place[i] = begin[i] = 0;
    }
    x.sync();
    STORMCELL_UNROLL
    for (int i = 0; i < kHeld; ++i) {
      const int32_t e = x.thread() + i * kThreads;
      regime[i] = regime_of(rows[i], a.limits);
      const int32_t bits = row_block_bits(regime[i]), blocks = (rows[i] + (1 << bits) - 1) >> bits;
      if (e < a.experts) shared.expert[e] = {rows[i], blocks};
      if (rows[i] == 0) continue;
      x.add(&shared.experts_of[static_cast<int>(regime[i])], 1);
      x.add(&shared.blocks_of[static_cast<int>(regime[i])], blocks);
    }
    x.sync();
    if (x.thread() < kRegimes) end_of_regime(a, shared, static_cast<Regime>(x.thread()));
    for (int32_t index = 0; index < a.experts; ++index) {
      const Expert other = shared.expert[index];
      STORMCELL_UNROLL
      for (int i = 0; i < kHeld; ++i)
        if (other.rows > rows[i] || (other.rows == rows[i] && index < x.thread() + i * kThreads))
          ++place[i], begin[i] += other.blocks;
    }
    x.sync();
    STORMCELL_UNROLL
    for (int i = 0; i < kHeld; ++i) {
      if (place[i] == 0) *most_rows_of(a.map) = rows[i];
      if (rows[i] == 0) continue;
      const int r = static_cast<int>(regime[i]);
      const TileList list = tile_list(a.map, regime[i]);
      list.expert[place[i] - shared.experts_before[r]] = x.thread() + i * kThreads;
      list.begin[place[i] - shared.experts_before[r]] = begin[i] - shared.blocks_before[r];
    }
  }

  /// Regimes in the order of their rows: gemv, then swapped and large or plain.
  STORMCELL_DEVICE static void end_of_regime(const Args& a, Shared& shared, Regime regime) {
    const int r = static_cast<int>(regime);
    int32_t experts = 0, blocks = 0;
    for (int more = r + 1; more < kRegimes; ++more)
      experts += shared.experts_of[more], blocks += shared.blocks_of[more];
    shared.experts_before[r] = experts, shared.blocks_before[r] = blocks;
    const TileList list = tile_list(a.map, regime);
    *list.count = shared.experts_of[r];
    list.begin[shared.experts_of[r]] = shared.blocks_of[r];
  }
};
using TileMapKernel = TileMapBlock<1024>;

}  // namespace stormcell::gpu
