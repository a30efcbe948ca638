// Ticks of an axis.
#pragma once
#include <vector>

namespace stormcell::report {

/// 1, 2 or 5 times a power of ten: at most nine ticks lie in `range`, which is above 0.
double tick_step(double range);
/// Where they stand from `low` to `high`, which is above it; few even where numbers are so large that a step is nothing
/// beside them.
std::vector<double> ticks(double low, double high);

}  // namespace stormcell::report
