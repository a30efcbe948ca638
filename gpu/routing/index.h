// Choices to CSR: a stable counting sort over tiles of consecutive choices. Each tile counts its branches, a scan over
// the tiles of each branch gives every tile its place, and each tile puts its choices there in order. No atomics decide
// an order, so it is deterministic. Bound: reading choices twice, writing slots, cells and weights once; below some
// thousand choices the launches.
#pragma once
#include "gpu/routing/capacity.h"

namespace stormcell::gpu {

/// Counts the choices of each branch in a tile.
struct CountKernel {
  using Args = IndexArgs;
  static constexpr int kThreads = kTileWarps * 32;
  struct Shared {
    int32_t count[2 * kMostBranches];
  };

  template <class X>
  STORMCELL_DEVICE static void run(X& x, const Args& a) {
    int32_t* count = x.template shared<Shared>().count;
    for (int32_t tile = x.block(); tile < a.tiles; tile += x.blocks()) {
      const HeldChoices held(a, first_choice(tile, x.thread() / 32, x.thread() % 32), x.thread() % 32);
      for (int row = x.thread(); row < a.rows(); row += kThreads) count[row] = 0;
      x.sync();
      STORMCELL_UNROLL
      for (int step = 0; step < kTileSteps; ++step) {
        const int32_t choice = held.choice[step];
        if (step >= held.steps || choice == kNoBranch) continue;
        if (choice >= 0) x.add(count + choice, 1);
        if (a.capacity > 0) x.add(count + a.decision.branches + branch_of(choice), 1);
      }
      x.sync();
      for (int row = x.thread(); row < a.rows(); row += kThreads)
        a.tile_counts[static_cast<int64_t>(row) * a.tiles + tile] = count[row];
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

/// Ranks a tile's choices among those of their branch: within a warp in registers, across warps in shared memory.
struct Ranks {
  static constexpr int kThreads = kTileWarps * 32;
  struct Shared {
    int16_t taken[kTileWarps][kMostBranches];  ///< at first of each warp, then of the warps before
    int32_t begin[kMostBranches];              ///< the slot of the tile's first choice of a branch
  };
  int32_t rank[kTileSteps], branch[kTileSteps];
  float weight[kTileSteps];

  template <class X>
  STORMCELL_DEVICE Ranks(X& x, const IndexArgs& a, Shared& shared, int64_t first, const HeldChoices& held) {
    const int lane = x.thread() % 32, warp = x.thread() / 32;
    int16_t* taken = shared.taken[warp];
    STORMCELL_UNROLL
    for (int step = 0; step < kTileSteps; ++step) {
      branch[step] = held.choice[step] >= 0 ? held.choice[step] : -1;
      weight[step] = branch[step] >= 0 ? a.decision.choice_weight[first + step * 32] : 0.0f;
      rank[step] = 0;
    }
    for (int b = lane; b < a.decision.branches; b += 32) taken[b] = 0;
    x.sync_warp();
    STORMCELL_UNROLL
    for (int step = 0; step < kTileSteps; ++step) {
      if (step >= held.steps) break;
      const uint32_t same = x.match(branch[step]);
      const int before = x.count_bits(same & ((1u << lane) - 1));
      if (branch[step] >= 0) rank[step] = taken[branch[step]] + before;
      x.sync_warp();
      if (branch[step] >= 0 && before == 0)
        taken[branch[step]] = static_cast<int16_t>(taken[branch[step]] + x.count_bits(same));
      x.sync_warp();
    }
    x.sync();
  }
  /// Puts the warps behind each other and returns how many choices of branch b they have together. Once a branch.
  STORMCELL_DEVICE static int32_t of_all_warps(Shared& shared, int32_t b) {
    int32_t before = 0;
    STORMCELL_UNROLL
    for (int w = 0; w < kTileWarps; ++w) {
      const int16_t mine = shared.taken[w][b];
      shared.taken[w][b] = static_cast<int16_t>(before);
      before += mine;
    }
    return before;
  }
  /// Called after a barrier.
  template <class X>
  STORMCELL_DEVICE void write(X& x, const IndexArgs& a, const Shared& shared, int64_t first,
                              const HeldChoices& held) const {
    const int64_t choices = static_cast<int64_t>(a.cells) * a.decision.fan_out;
    const int16_t* taken = shared.taken[x.thread() / 32];
    STORMCELL_UNROLL
    for (int step = 0; step < kTileSteps; ++step) {
      const int64_t i = first + step * 32;
      if (step >= held.steps || i >= choices) break;
      const int32_t b = branch[step];
      const int32_t slot = b >= 0 ? shared.begin[b] + taken[b] + rank[step] : -1;
      a.decision.slot[i] = slot;
      if (b < 0) continue;
      a.decision.cell[slot] = static_cast<int32_t>(i) / a.decision.fan_out;
      a.decision.weight[slot] = weight[step];
    }
  }
};

/// Puts each tile's choices in their slots; block 0 writes offsets and loads.
struct PlaceKernel {
  using Args = IndexArgs;
  static constexpr int kThreads = Ranks::kThreads;
  struct Shared {
    Ranks::Shared ranks;
    int32_t begin[kMostBranches];  ///< first slot of a branch
    int32_t warps[kThreads / 32];
  };

  template <class X>
  STORMCELL_DEVICE static void run(X& x, const Args& a) {
    Shared& shared = x.template shared<Shared>();
    begin_of_branches(x, a, shared);
    for (int32_t tile = x.block(); tile < a.tiles; tile += x.blocks()) place(x, a, shared, tile);
  }

 private:
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
    const int64_t first = first_choice(tile, x.thread() / 32, x.thread() % 32);
    const HeldChoices held(a, first, x.thread() % 32);
    const Ranks ranks(x, a, shared.ranks, first, held);
    for (int b = x.thread(); b < a.decision.branches; b += kThreads) {
      shared.ranks.begin[b] = shared.begin[b] + a.tile_counts[static_cast<int64_t>(b) * a.tiles + tile];
      Ranks::of_all_warps(shared.ranks, b);
    }
    x.sync();
    ranks.write(x, a, shared.ranks, first, held);
    x.sync();
  }
};

/// All of it in one block, for choices that fit one tile: below some thousand choices a launch costs more than the
/// work. Choices and weights are loaded once, counts stay in shared memory.
struct IndexOneTileKernel {
  using Args = IndexArgs;
  static constexpr int kThreads = Ranks::kThreads;
  struct Placing {
    Ranks::Shared ranks;
    int32_t wanted[kMostBranches];  ///< with capacity: choices of a branch, dropped ones too
    int32_t warps[kThreads / 32];
  };
  union Shared {  // one after another
    LimitKernel::Shared limit;
    Placing placing;
  };

  template <class X>
  STORMCELL_DEVICE static void run(X& x, const Args& a) {
    if (a.capacity > 0) LimitKernel::run(x, a);
    x.sync();
    Placing& shared = x.template shared<Shared>().placing;
    const int64_t first = first_choice(0, x.thread() / 32, x.thread() % 32);
    const HeldChoices held(a, first, x.thread() % 32);
    if (a.capacity > 0)
      for (int b = x.thread(); b < a.decision.branches; b += kThreads) shared.wanted[b] = 0;
    const Ranks ranks(x, a, shared.ranks, first, held);
    if (a.capacity > 0) count_wanted(x, shared, held);
    int32_t sum = 0;
    for (int32_t some = 0; some < a.decision.branches; some += kThreads) {
      const int32_t b = some + x.thread();
      const int32_t mine = b < a.decision.branches ? Ranks::of_all_warps(shared.ranks, b) : 0;
      int32_t total = 0;
      const int32_t before = sum_before<kThreads>(x, mine, shared.warps, total);
      if (b < a.decision.branches) {
        shared.ranks.begin[b] = a.decision.offsets[b] = sum + before;
        a.decision.padded[b] = mine;
        a.decision.wanted[b] = a.capacity > 0 ? shared.wanted[b] : mine;
      }
      sum += total;
    }
    if (x.thread() == 0) a.decision.offsets[a.decision.branches] = sum, *a.decision.cells = a.cells;
    x.sync();
    ranks.write(x, a, shared.ranks, first, held);
  }

 private:
  template <class X>
  STORMCELL_DEVICE static void count_wanted(X& x, Placing& shared, const HeldChoices& held) {
    STORMCELL_UNROLL
    for (int step = 0; step < kTileSteps; ++step)
      if (step < held.steps && branch_of(held.choice[step]) >= 0)
        x.add(shared.wanted + branch_of(held.choice[step]), 1);
    x.sync();
  }
};

}  // namespace stormcell::gpu
