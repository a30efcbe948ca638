#include "core/report/ticks.h"

#include <cmath>

namespace stormcell::report {

double tick_step(double range) {
  const double power = std::pow(10, std::floor(std::log10(range / 5)));
  for (const double m : {1., 2., 5.})
    if (range / (m * power) <= 8) return m * power;
  return 10 * power;
}

}  // namespace stormcell::report
