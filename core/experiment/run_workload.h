// One run of one workload: over the data once, recorded; measured; verified; into the session. run, profile and what-if
// are made of it.
#pragma once
#include <memory>

#include "core/bench/workload.h"
#include "core/experiment/run_options.h"

namespace stormcell {

/// A run whose routing is changed leaves out what early exits would give with other thresholds: scores are not those of
/// the model as it came.
std::shared_ptr<RunSummaryFigures> run_workload(Workload& work, const RunOptions& options, const Progress& progress);

}  // namespace stormcell
