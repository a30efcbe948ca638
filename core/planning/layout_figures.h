// Balance of layouts on a part of the data, by the replicas that its tokens go to.
#pragma once
#include <span>
#include <vector>

#include "core/placement/placement.h"
#include "core/placement/traffic.h"
#include "core/planning/place_task.h"
#include "core/planning/step_loads.h"

namespace stormcell {

/// A part of the data that layouts are looked at on. What it refers to must outlive it.
struct LayoutData {
  const LayerLoads& loads;
  const TokenRoutes* routes;  ///< null: there are counts alone
  std::span<const size_t> tokens;
  ReplicaWay way;
};
LayoutData layout_data(const FitData& data);

/// [layers][ranks] choices that each rank computes.
std::vector<std::vector<double>> rank_loads(const Placement& placement, const LayoutData& data);
/// Mean over layers.
double mean_imbalance(const Placement& placement, const LayoutData& data);

}  // namespace stormcell
