// What measured calls say of a cluster's rates and start-up times, taken into the cost of a step; and what they do not
// say.
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
  std::optional<RowRange> rows;  ///< of an expert that gets any, in any of the steps; null: not known
};

/// Of dispatch, experts and combine each: where the calls speak for this GPU, these links and so many ranks, `model`
/// takes start-up and rate of a line through what they say at about the step's size; where products were measured over
/// rows, experts take their curve. What they do not say is left as it is. All times x 1.3, so are these.
CalibrationUse calibrate_model(const Calibration& calibration, const Cluster& cluster, const ModelSizes& sizes,
                               const MeanStep& step, CostModel& model);

}  // namespace stormcell
