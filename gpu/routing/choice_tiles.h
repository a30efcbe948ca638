// Choices in tiles of consecutive ones, as the kernels that make the index (index.h) and those of capacity (capacity.h)
// take them.
#pragma once
#include "core/cell/decision.h"
#include "gpu/base/execution.h"
#include "gpu/routing/rule.h"

namespace stormcell::gpu {

/// Choices of one tile: each of eight warps takes 256 consecutive ones, 32 at a time.
inline constexpr int kTileWarps = 8, kTileSteps = 8, kTileChoices = kTileWarps * kTileSteps * 32;

struct IndexArgs {
  DecisionView decision;
  int32_t cells = 0;
  ParentMap parents;
  int32_t capacity = 0;  ///< of a (parent, branch); 0: nothing is dropped
  int32_t tiles = 0;     ///< of kTileChoices choices; at least 1
  /// [rows, tiles]: choices of a branch, after the scan those of the tiles before; first capacity.h's
  int32_t* tile_counts = nullptr;
  int32_t* counts = nullptr;  ///< [rows]: over all tiles

  /// True for the first cell of a parent. Cells of a parent are contiguous.
  STORMCELL_BOTH bool begins_parent(int32_t cell) const {
    if (parents.per_parent > 0) return cell % static_cast<int32_t>(least<int64_t>(parents.per_parent, INT32_MAX)) == 0;
    return cell == 0 || (parents.parent && parents.parent[cell] != parents.parent[cell - 1]);
  }
  /// Rows of the counts: kept choices of each branch, then, where some are dropped, the wanted ones.
  STORMCELL_BOTH int32_t rows() const { return capacity > 0 ? 2 * decision.branches : decision.branches; }
};

/// The branch that a choice belongs to, dropped or not; -1 for none.
STORMCELL_BOTH inline int32_t branch_of(int32_t choice) {
  return choice >= 0 ? choice : choice == kNoBranch ? -1 : ~choice;
}

/// A lane's choices of a warp's part of a tile, `first` and each 32nd from there on: all loads are under way before the
/// first is needed. Past the end: none.
struct HeldChoices {
  int32_t choice[kTileSteps];
  int steps = 0;  ///< with a choice in any lane: the rest is skipped

  STORMCELL_DEVICE HeldChoices(const IndexArgs& a, int64_t first, int lane) {
    const int64_t choices = static_cast<int64_t>(a.cells) * a.decision.fan_out;
    STORMCELL_UNROLL
    for (int step = 0; step < kTileSteps; ++step)
      choice[step] = first + step * 32 < choices ? a.decision.choice[first + step * 32] : kNoBranch;
    const int64_t left = choices - (first - lane);
    steps = static_cast<int>(least<int64_t>(kTileSteps, left <= 0 ? 0 : (left + 31) / 32));
  }
};
/// The first choice of a lane in its warp's part of a tile.
STORMCELL_BOTH constexpr int64_t first_choice(int32_t tile, int warp, int lane) {
  return static_cast<int64_t>(tile) * kTileChoices + warp * (kTileSteps * 32) + lane;
}

}  // namespace stormcell::gpu
