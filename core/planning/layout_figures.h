// Balance of layouts on a part of the data, by the replicas that its tokens go to.
#pragma once
#include <vector>

#include "core/placement/placement.h"
#include "core/planning/place_task.h"

namespace stormcell {

/// [layers][ranks] choices that each rank computes.
std::vector<std::vector<double>> rank_loads(const Placement& placement, const DataSlice& data);
/// Mean over layers.
double mean_imbalance(const Placement& placement, const DataSlice& data);

}  // namespace stormcell
