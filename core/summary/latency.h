// The house's one definition of a quantile, and the latencies that are stated with it.
#pragma once
#include <vector>

#include "core/summary/results.h"

namespace stormcell {

/// Nearest rank: the smallest of `values` that at least a share `q` of them does not exceed; 0 without values.
double quantile(std::vector<double> values, double q);
/// quantile(values, 0.5).
double median(std::vector<double> values);
/// Median, 95th percentile, smallest and mean of executions, each counted once.
Latency latency_of(const std::vector<double>& milliseconds);

}  // namespace stormcell
