// One phase of an optimisation, the forward pass or decoding: from its profile to its recording.
#pragma once
#include <memory>

#include "core/exits/exit_thresholds.h"
#include "core/experiment/run_options.h"
#include "core/experiment/time_figures.h"

namespace stormcell {

class Workload;

/// `found`: the thresholds that its baseline has in the place of the model's own; null: none were asked for.
std::shared_ptr<RunSummaryFigures> optimize_phase(Workload& work, const FoundTarget* found,
                                                  const OptimizeOptions& options, const TimeShare& time,
                                                  const Progress& progress);

}  // namespace stormcell
