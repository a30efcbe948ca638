// --dense: the third plan, every cell through every branch and the results masked, as frameworks without routing run
// it. Shown beside baseline and optimised plan, never the denominator of a speed-up (docs/concepts.md).
#pragma once
#include <string>
#include <vector>

#include "core/bench/workload.h"

namespace stormcell {

/// Measures it mirrored with the baseline over `batches` for about so many seconds; its figures go to `figures.dense`,
/// the baseline's latency in these pairs to `dense_baseline_ms`, and how much faster routing alone makes the baseline
/// to `routing_speedup`. A warning says why there are none: the graph has no dense form, or it does not answer as the
/// baseline does.
void measure_dense(Workload& work, ReadyPlan& baseline, const std::vector<int64_t>& batches, double seconds,
                   RunSummaryFigures& figures, const Progress& progress);

}  // namespace stormcell
