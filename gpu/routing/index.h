// Choices to CSR: a stable counting sort over tiles of consecutive choices. Each tile counts its branches, a scan over the tiles of each
// branch gives every tile its place, and each tile puts its choices there in order. No atomics decide an order, so it is deterministic.
// Bound: reading choices twice, writing slots, cells and weights once; below some thousand choices the launches.
#pragma once
#include "gpu/routing/capacity.h"

namespace stormcell::gpu {

/// How many choices of each branch a tile has.
struct CountKernel {
  using Args = IndexArgs;
  static constexpr int kThreads = 256;
  struct Shared {
    int32_t count[2 * kMostBranches];
  };

  template <class X>
  STORMCELL_DEVICE static void run(X& x, const Args& a) {
    int32_t* count = x.template shared<Shared>().count;
    const int64_t choices = static_cast<int64_t>(a.cells) * a.decision.fan_out;
    for (int32_t tile = x.block(); tile < a.tiles; tile += x.blocks()) {
      for (int row = x.thread(); row < a.rows(); row += kThreads) count[row] = 0;
      x.sync();
      const int64_t begin = static_cast<int64_t>(tile) * kTileChoices, end = least<int64_t>(choices, begin + kTileChoices);
      for (int64_t i = begin + x.thread(); i < end; i += kThreads) {
        const int32_t choice = a.decision.choice[i];
        if (choice == kNoBranch) continue;
        if (choice >= 0) x.add(count + choice, 1);
        if (a.capacity > 0) x.add(count + a.decision.branches + branch_of(choice), 1);
      }
      x.sync();
      for (int row = x.thread(); row < a.rows(); row += kThreads) a.tile_counts[static_cast<int64_t>(row) * a.tiles + tile] = count[row];
      x.sync();
    }
  }
};

/// A block a row: the counts of tiles become the sums over the tiles before.
struct ScanKernel {
  using Args = IndexArgs;
  static constexpr int kThreads = 256;
  struct Shared {
    int32_t warps[kThreads / 32];
  };

  template <class X>
  STORMCELL_DEVICE static void run(X& x, const Args& a) {
    Shared& shared = x.template shared<Shared>();
    for (int32_t which = x.block(); which < a.rows(); which += x.blocks()) {
      int32_t* row = a.tile_counts + static_cast<int64_t>(which) * a.tiles;
      int32_t sum = 0;
      for (int32_t first = 0; first < a.tiles; first += kThreads) {
        const int32_t tile = first + x.thread();
        const int32_t mine = tile < a.tiles ? row[tile] : 0;
        int32_t total = 0;
        const int32_t before = sum_before<kThreads>(x, mine, shared.warps, total);
        if (tile < a.tiles) row[tile] = sum + before;
        sum += total;
      }
      if (x.thread() == 0) a.counts[which] = sum;
    }
  }
};

/// Puts each tile's choices in their slots; block 0 writes offsets and loads.
struct PlaceKernel {
  using Args = IndexArgs;
  static constexpr int kThreads = kTileWarps * 32;
  struct Shared {
    int32_t begin[kMostBranches];  ///< first slot of a branch
    int16_t taken[kTileWarps][kMostBranches];
    int32_t warps[kThreads / 32];
  };

  template <class X>
  STORMCELL_DEVICE static void run(X& x, const Args& a) {
    Shared& shared = x.template shared<Shared>();
    begin_of_branches(x, a, shared);
    for (int32_t tile = x.block(); tile < a.tiles; tile += x.blocks()) place(x, a, shared, tile);
  }

  template <class X>
  STORMCELL_DEVICE static void begin_of_branches(X& x, const Args& a, Shared& shared) {
    const int32_t branches = a.decision.branches;
    int32_t sum = 0;
    for (int32_t first = 0; first < branches; first += kThreads) {
      const int32_t b = first + x.thread();
      const int32_t mine = b < branches ? a.counts[b] : 0;
      int32_t total = 0;
      const int32_t before = sum_before<kThreads>(x, mine, shared.warps, total);
      if (b < branches) {
        shared.begin[b] = sum + before;
        if (x.block() == 0) {
          a.decision.offsets[b] = sum + before;
          a.decision.padded[b] = mine;
          a.decision.wanted[b] = a.capacity > 0 ? a.counts[branches + b] : mine;
        }
      }
      sum += total;
    }
    if (x.block() == 0 && x.thread() == 0) a.decision.offsets[branches] = sum, *a.decision.cells = a.cells;
    x.sync();
  }

  template <class X>
  STORMCELL_DEVICE static void place(X& x, const Args& a, Shared& shared, int32_t tile) {
    const int lane = x.thread() % 32, warp = x.thread() / 32;
    const int64_t choices = static_cast<int64_t>(a.cells) * a.decision.fan_out;
    int16_t* taken = shared.taken[warp];
    for (int b = lane; b < a.decision.branches; b += 32) taken[b] = 0;
    x.sync_warp();
    // First each warp ranks its own choices, then the warps are put behind each other.
    const int64_t first = static_cast<int64_t>(tile) * kTileChoices + warp * (kTileSteps * 32) + lane;
    int32_t rank[kTileSteps], branch[kTileSteps];
    STORMCELL_UNROLL
    for (int step = 0; step < kTileSteps; ++step) {
      const int64_t i = first + step * 32;
      const int32_t choice = i < choices ? a.decision.choice[i] : -1;
      branch[step] = choice >= 0 ? choice : -1;
      const uint32_t same = x.match(branch[step]);
      const int before = x.count_bits(same & ((1u << lane) - 1));
      rank[step] = branch[step] >= 0 ? taken[branch[step]] + before : 0;
      x.sync_warp();
      if (branch[step] >= 0 && before == 0) taken[branch[step]] = static_cast<int16_t>(taken[branch[step]] + x.count_bits(same));
      x.sync_warp();
    }
    x.sync();
    for (int b = x.thread(); b < a.decision.branches; b += kThreads) {
      int32_t before = 0;
      for (int w = 0; w < kTileWarps; ++w) {
        const int16_t mine = shared.taken[w][b];
        shared.taken[w][b] = static_cast<int16_t>(before);
        before += mine;
      }
    }
    x.sync();
    STORMCELL_UNROLL
    for (int step = 0; step < kTileSteps; ++step) {
      const int64_t i = first + step * 32;
      if (i >= choices) continue;
      if (branch[step] < 0) {
        a.decision.slot[i] = -1;
        continue;
      }
      const int32_t slot = shared.begin[branch[step]] + a.tile_counts[static_cast<int64_t>(branch[step]) * a.tiles + tile] +
                           taken[branch[step]] + rank[step];
      a.decision.slot[i] = slot;
      a.decision.cell[slot] = static_cast<int32_t>(i / a.decision.fan_out);
      a.decision.weight[slot] = a.decision.choice_weight[i];
    }
    x.sync();
  }
};

/// All of it in one block, for choices that fit one tile: below some thousand choices a launch costs more than the work.
struct IndexOneTileKernel {
  using Args = IndexArgs;
  static constexpr int kThreads = 256;
  union Shared {  // one after another
    LimitKernel::Shared limit;
    CountKernel::Shared count;
    PlaceKernel::Shared place;
  };

  template <class X>
  STORMCELL_DEVICE static void run(X& x, const Args& a) {
    if (a.capacity > 0) LimitKernel::run(x, a);
    x.sync();
    CountKernel::run(x, a);
    for (int row = x.thread(); row < a.rows(); row += kThreads) a.counts[row] = a.tile_counts[row], a.tile_counts[row] = 0;
    x.sync();
    PlaceKernel::run(x, a);
  }
};

}  // namespace stormcell::gpu
