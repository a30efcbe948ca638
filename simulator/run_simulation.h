// Steps of a placement, layer by layer, by endpoint sums: linear in steps, layers and GPUs.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/cost/layer_cost.h"
#include "core/placement/placement.h"
#include "core/planning/step_objective.h"
#include "simulator/simulate_figures.h"

namespace stormcell {

/// Seconds of a step whose micro-batches take turns: [micro-batches][layers]. One: all phases in succession. Two: while
/// one computes, the links return the other's results and dispatch its next layer.
double scheduled_s(const std::vector<std::vector<LayerCost>>& micro_batches);

/// A model with one figure larger by a tenth.
struct Variation {
  std::string figure;
  CostModel model;
};
/// One variation for each figure that the model uses.
std::vector<Variation> variations_of(const CostModel& model);

/// Adds layers, GPUs, links, times and sensitivity to `figures`, which must have the cluster, the layers' names, the
/// options and the rest. It simulates the part of `objective` that placements are fitted to.
void simulate_steps(const StepObjective& objective, const Placement& placement, const Progress& progress,
                    SimulateFigures& figures);

}  // namespace stormcell
