// Placement for cheap steps: the aim is the cost of steps, and of moving, and no figure in its place. Moves are
// annealed, and each is costed by what it touches.
#pragma once
#include <cstdint>

#include "core/base/progress.h"
#include "core/placement/placed_steps.h"
#include "core/placement/search_time.h"

namespace stormcell {

/// The objective in seconds: the mean over steps or their 95th percentile, plus the cost of each slot that moves.
struct CostAim {
  bool p95 = false;
  /// cost of a slot whose branch is not on its rank in `before`, shared over the steps that it pays off in
  double move_s = 0;
  Placement before;
};
double cost_of(const CostAim& aim, const PlacedSteps& placed);

struct CostSearchOptions {
  uint32_t seed = 1;
  int64_t proposals = 0;
  double heat = 0.3;  ///< share, at the start, of the mean change by a proposal; little keeps what another search found
  SearchTime time = {};
};
/// Moves from the placement at hand to one that costs no more, and leaves it placed. No branch is twice on a rank, and
/// every slot is filled.
void make_cheaper(const CostAim& aim, const CostSearchOptions& options, PlacedSteps& placed,
                  const Progress& progress = {});

}  // namespace stormcell
