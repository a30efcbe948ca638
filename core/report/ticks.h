// Ticks of an axis.
#pragma once

namespace stormcell::report {

/// 1, 2 or 5 times a power of ten: at most nine ticks lie in `range`, which is above 0.
double tick_step(double range);

}  // namespace stormcell::report
