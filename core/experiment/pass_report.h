// What the pipeline did, as results report it.
#pragma once
#include "core/passes/pipeline.h"
#include "core/summary/results.h"

namespace stormcell {

/// Without measured figures.
PassReport report_of(const PassOutcome& outcome);

}  // namespace stormcell
