// Ticks of an axis.
#pragma once
#include <vector>

namespace stormcell::report {

/// 1, 2 or 5 times a power of ten, with at most nine ticks in `range`, which is above 0.
double tick_step(double range);
/// Ticks between `low` and the larger `high`; few if the numbers are so large that a step vanishes beside them.
std::vector<double> ticks(double low, double high);

}  // namespace stormcell::report
