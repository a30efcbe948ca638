// Capacity: within each (parent, branch) the first cells in order stay, the others are dropped. One choice a cell. A
// cell's place is a running count that restarts with each parent. Each tile computes the count that it hands on, a scan
// carries it through the tiles, and each tile ranks its own cells. Thus one parent of all cells takes as many blocks as
// many short ones. Bound: reading choices twice; below some thousand cells the launches.
#pragma once
#include "gpu/routing/choice_tiles.h"

namespace stormcell::gpu {

/// Count that tiles hand on for a branch: its cells since a parent last began; the sign bit is set if a parent began.
inline constexpr int32_t kParentBegan = INT32_MIN;
struct HandOn {
  STORMCELL_BOTH int32_t operator()(int32_t before, int32_t then) const { return then < 0 ? then : before + then; }
  STORMCELL_BOTH static int32_t cells(int32_t handed_on) { return handed_on & INT32_MAX; }
};

/// Computes each tile's own count to hand on, into the first rows of tile_counts.
struct TailKernel {
  using Args = IndexArgs;
  static constexpr int kThreads = 256;
  struct Shared {
    int32_t count[kMostBranches];
    int32_t last[kThreads / 32];
  };

  template <class X>
  STORMCELL_DEVICE static void run(X& x, const Args& a) {
    Shared& shared = x.template shared<Shared>();
    for (int32_t tile = x.block(); tile < a.tiles; tile += x.blocks()) {
      const int32_t begin = tile * kTileChoices, end = least(a.cells, begin + kTileChoices);
      int32_t last = -1;  // cell at which the last parent begins
      for (int32_t cell = begin + x.thread(); cell < end; cell += kThreads)
        if (a.begins_parent(cell)) last = cell;
      STORMCELL_UNROLL
      for (int mask = 16; mask > 0; mask /= 2) last = most(last, x.shuffle_xor(last, mask));
      if (x.thread() % 32 == 0) shared.last[x.thread() / 32] = last;
      for (int b = x.thread(); b < a.decision.branches; b += kThreads) shared.count[b] = 0;
      x.sync();
      for (const int32_t other : shared.last) last = most(last, other);
      for (int32_t cell = begin + x.thread(); cell < end; cell += kThreads) {
        const int32_t branch = branch_of(a.decision.choice[cell]);
        if (cell >= last && branch >= 0) x.add(shared.count + branch, 1);
      }
      x.sync();
      for (int b = x.thread(); b < a.decision.branches; b += kThreads)
        a.tile_counts[static_cast<int64_t>(b) * a.tiles + tile] = shared.count[b] | (last < 0 ? 0 : kParentBegan);
      x.sync();
    }
  }
};

/// Turns each tile's own count into that of all tiles up to it; one block a branch.
struct CarryKernel {
  using Args = IndexArgs;
  static constexpr int kThreads = 256;
  struct Shared {
    int32_t warps[kThreads / 32];
  };

  template <class X>
  STORMCELL_DEVICE static void run(X& x, const Args& a) {
    Shared& shared = x.template shared<Shared>();
    const HandOn join;
    for (int32_t branch = x.block(); branch < a.decision.branches; branch += x.blocks()) {
      int32_t* row = a.tile_counts + static_cast<int64_t>(branch) * a.tiles;
      int32_t before = 0;
      for (int32_t first = 0; first < a.tiles; first += kThreads) {
        const int32_t tile = first + x.thread();
        int32_t total = 0;
        const int32_t here = joined_up_to<kThreads>(x, tile < a.tiles ? row[tile] : 0, shared.warps, total, join);
        if (tile < a.tiles) row[tile] = join(before, here);
        before = join(before, total);
      }
    }
  }
};

/// Ranks the cells of each tile and drops those beyond the capacity.
struct LimitKernel {
  using Args = IndexArgs;
  static constexpr int kThreads = kTileWarps * 32;
  /// Entry for a warp's cells and one branch: parent (counted within the warp) * kOneParent + its cells so far.
  static constexpr int32_t kOneParent = 2 * kTileSteps * 32;
  struct Shared {
    int32_t taken[kTileWarps][kMostBranches];  ///< finally: cells of the parent that goes on into the warp's cells
    int32_t parents[kTileWarps];               ///< parents that begin in a warp's cells
  };

  template <class X>
  STORMCELL_DEVICE static void run(X& x, const Args& a) {
    Shared& shared = x.template shared<Shared>();
    for (int32_t tile = x.block(); tile < a.tiles; tile += x.blocks()) limit(x, a, shared, tile);
  }

 private:
  template <class X>
  STORMCELL_DEVICE static void limit(X& x, const Args& a, Shared& shared, int32_t tile) {
    const int lane = x.thread() % 32, warp = x.thread() / 32;
    int32_t* taken = shared.taken[warp];
    for (int b = lane; b < a.decision.branches; b += 32) taken[b] = 0;
    x.sync_warp();
    const int32_t first = tile * kTileChoices + warp * (kTileSteps * 32) + lane;
    const uint32_t lanes_before = (1u << lane) - 1;
    const HeldChoices held(a, first, lane);
    int32_t rank[kTileSteps], branch[kTileSteps], parents = 0;
    uint32_t goes_on = 0;         // a bit a step: the cell's parent began before this warp's cells
    uint32_t begins_parents = 0;  // the cell is its parent's first
    STORMCELL_UNROLL
    for (int step = 0; step < kTileSteps; ++step) {
      const int32_t cell = first + step * 32;
      begins_parents |= static_cast<uint32_t>(cell < a.cells && a.begins_parent(cell)) << step;
      branch[step] = branch_of(held.choice[step]), rank[step] = 0;
    }
    STORMCELL_UNROLL
    for (int step = 0; step < kTileSteps; ++step) {
      if (step >= held.steps) break;
      const uint32_t begins = x.ballot(begins_parents >> step & 1);
      const int32_t parent = parents + x.count_bits(begins & (lanes_before << 1 | 1));
      const uint32_t same = x.match(parent * (2 * kMostBranches) + branch[step] + 1);
      const int before = x.count_bits(same & lanes_before);
      const int32_t of_branch = branch[step] >= 0 ? taken[branch[step]] : 0;
      const int32_t earlier = of_branch / kOneParent == parent ? of_branch % kOneParent : 0;
      rank[step] = earlier + before;
      goes_on |= static_cast<uint32_t>(parent == 0) << step;
      parents += x.count_bits(begins);
      x.sync_warp();
      if (branch[step] >= 0 && before == 0 && parent == parents)
        taken[branch[step]] = parent * kOneParent + earlier + x.count_bits(same);
      x.sync_warp();
    }
    if (lane == 0) shared.parents[warp] = parents;
    x.sync();
    // Adds the counts of the tiles before, then of each warp.
    for (int b = x.thread(); b < a.decision.branches; b += kThreads) {
      int32_t before = tile > 0 ? HandOn::cells(a.tile_counts[static_cast<int64_t>(b) * a.tiles + tile - 1]) : 0;
      for (int w = 0; w < kTileWarps; ++w) {
        const int32_t mine = shared.taken[w][b], begun = shared.parents[w];
        const int32_t tail = mine / kOneParent == begun ? mine % kOneParent : 0;
        shared.taken[w][b] = before;
        before = begun > 0 ? tail : before + tail;
      }
    }
    x.sync();
    STORMCELL_UNROLL
    for (int step = 0; step < kTileSteps; ++step) {
      if (branch[step] < 0) continue;
      const int32_t place = rank[step] + (goes_on >> step & 1 ? taken[branch[step]] : 0);
      if (place >= a.capacity) a.decision.choice[first + step * 32] = dropped_from(branch[step]);
    }
    x.sync();
  }
};

}  // namespace stormcell::gpu
