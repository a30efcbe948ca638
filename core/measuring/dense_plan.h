// --dense: the third plan, every cell through every branch and the results masked, as frameworks without routing run
// it. Shown beside baseline and optimised plan, never the denominator of a speed-up (docs/concepts.md).
#pragma once
#include <string>
#include <vector>

#include "core/bench/workload.h"

namespace stormcell {

/// Measures the dense plan mirrored with the baseline over `batches` for about so many seconds. Its figures go to
/// `figures.dense`, the baseline's latency in these pairs to `dense_baseline_ms`, and the gain of the baseline by
/// routing alone to `routing_speedup`. If there are no figures, a warning says why: the graph has no dense form, or the
/// dense plan answers otherwise than the baseline.
void measure_dense(Workload& work, ReadyPlan& baseline, const std::vector<int64_t>& batches, double seconds,
                   RunSummaryFigures& figures, const Progress& progress);

}  // namespace stormcell
