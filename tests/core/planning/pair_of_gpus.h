// Two GPUs, and what a small model costs there.
#pragma once
#include "core/cost/cluster.h"
#include "core/planning/step_figures.h"
#include "core/planning/step_objective.h"

namespace stormcell::testing {

inline Cluster pair_of_gpus() {
  Cluster c;
  c.nodes = 1, c.gpus_per_node = 2;
  c.memory_bytes = 1e11, c.memory_bytes_per_s = 1e12, c.flops_per_s = 1e9, c.fabric_bytes_per_s = 1e11;
  return c;
}

inline CostModel small_model_on(const Cluster& cluster) {
  ModelSizes sizes;
  sizes.hidden = 64, sizes.branch_bytes = 1, sizes.flops_per_row = 1e6;
  return cost_model_of(cluster, sizes);
}

}  // namespace stormcell::testing
