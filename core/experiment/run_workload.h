// One run of one workload: over the data once, recorded; measured; verified; into the session. run, profile and what-if
// are made of it.
#pragma once
#include <functional>
#include <memory>

#include "core/bench/workload.h"
#include "core/experiment/run_options.h"

namespace stormcell {

/// Told of each batch of the first pass over the data; `plan.result` holds its outputs. Empty: nobody asks.
using SeenBatch = std::function<void(const Batch& batch, const ReadyPlan& plan)>;

/// A run that is seen leaves out what early exits would give with other thresholds.
std::shared_ptr<RunSummaryFigures> run_workload(Workload& work, const RunOptions& options, const SeenBatch& seen,
                                                const Progress& progress);

}  // namespace stormcell
