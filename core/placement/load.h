// Placement by load alone: the most loaded rank of a layer gives a branch away for another's, or a share of it to a
// replica, as long as that makes the largest load smaller. Unlike the EPLB rule it mends what its packing leaves, and
// wastes no replica.
#pragma once
#include "core/base/progress.h"
#include "core/placement/placement.h"

namespace stormcell {

/// Begins at `start`, in which no branch is twice on a rank.
Placement load_placement(const LayerLoads& loads, const Placement& start, const Progress& progress = {});

/// Replicas beside another of their branch on a rank give way to branches that are not there: those with most load a
/// replica first. The spare slots must not be more than can be filled so: at most `branches` slots a rank.
void spread_idle_replicas(const LayerLoads& loads, Placement& placement);

}  // namespace stormcell
