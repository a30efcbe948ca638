// Takes a cluster's rates and start-up times from measured calls into the cost of a step, and reports what the calls do
// not tell.
#pragma once
#include <cstdint>
#include <optional>

#include "core/cost/calibration.h"
#include "core/cost/cluster.h"
#include "core/cost/layer_cost.h"
#include "core/planning/step_figures.h"

namespace stormcell {

/// A step as calls are asked for: of so many tokens in all, each choosing `k` of `experts`, routed evenly.
struct MeanStep {
  std::optional<double> tokens;  ///< null: not known
  int64_t k = 0;
  int32_t experts = 0;
  std::optional<RowRange> rows;  ///< rows of an expert that gets any, over all steps; null: not known
};

/// Calibrates dispatch, experts and combine, each for itself. If calls cover this GPU, these links and this number of
/// ranks, `model` takes start-up time and rate of a line through their times at about the step's size. If products were
/// measured over rows, experts take their curve. Everything else keeps its value. Calls x 1.3 give times x 1.3.
CalibrationUse calibrate_model(const Calibration& calibration, const Cluster& cluster, const ModelSizes& sizes,
                               const MeanStep& step, CostModel& model);

}  // namespace stormcell
