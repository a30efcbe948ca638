// The time of a model's expert over its rows, put together from curves of its products.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/cost/calibration.h"
#include "core/planning/step_figures.h"

namespace stormcell {

/// Rows of the experts of one GPU: in a mean step under even routing, and the range over all steps.
struct ExpertRows {
  double active = 0;  ///< experts of a GPU that get any rows
  double mean = 0;    ///< rows of each of these
  RowRange range;     ///< over all steps and layers
};

struct ExpertCurve {
  std::shared_ptr<const RowCurve> curve;  ///< null: nothing that was measured says it
  PredictionKind kind = PredictionKind::none;
  std::string why_not;  ///< empty: no product over rows was measured, or of other GPUs alone
  const MeasuredCall* like = nullptr;
  std::optional<double> held_out;  ///< the largest error of its products, and of grouped calls with such weights
  std::vector<size_t> from;        ///< numbers of the calls
};

/// A gated expert is two products hidden x ffn (or one of hidden x 2 ffn) and one of ffn x hidden; else one of each.
/// All of one series of calls: same GPU, laboratory, number format and number of weights a call, whose time they share
/// evenly. A product that was measured the other way round alone is borrowed. If several series have it, the surest
/// counts, then that of about as many weights a call as a GPU has active experts. `bits`: of a weight.
ExpertCurve find_expert_curve(const Calibration& calibration, const std::string& gpu, const ModelSizes& sizes,
                              double bits, const ExpertRows& rows);

}  // namespace stormcell
