// Latencies, stated by quantiles.
#pragma once
#include <string_view>
#include <vector>

#include "core/base/quantile.h"
#include "core/summary/results.h"

namespace stormcell {

/// Median, 95th percentile, smallest and mean of executions, each counted once.
Latency latency_of(const std::vector<double>& milliseconds);

/// The one figure where a sentence has room for one: the mean, which is what a speed-up is about; of summaries of older
/// versions, which have none, the median. And which of the two it is.
double typical_milliseconds(const Latency& latency);
std::string_view typical_name(const Latency& latency);
/// True: the typical figure is the mean.
bool has_mean(const Latency& latency);

}  // namespace stormcell
