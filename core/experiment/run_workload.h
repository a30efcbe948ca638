// One run of one workload: it goes over the data once and records, measures, verifies, and writes the session. run,
// profile and what-if consist of it.
#pragma once
#include <memory>

#include "core/bench/workload.h"
#include "core/experiment/run_options.h"

namespace stormcell {

/// A run with changed routing omits early exits with other thresholds: its scores are not those of the unchanged model.
std::shared_ptr<RunSummaryFigures> run_workload(Workload& work, const RunOptions& options, const Progress& progress);

}  // namespace stormcell
