#include "core/report/ticks.h"

#include <cmath>

namespace stormcell::report {

double tick_step(double range) {
  const double power = std::pow(10, std::floor(std::log10(range / 5)));
  for (const double m : {1., 2., 5.})
    if (range / (m * power) <= 8) return m * power;
  return 10 * power;
}

std::vector<double> ticks(double low, double high) {
  constexpr int kMost = 12;
  const double step = tick_step(high - low), first = std::ceil(low / step);
  std::vector<double> out;
  for (int i = 0; i < kMost && (first + i) * step <= high; ++i) out.push_back((first + i) * step);
  return out;
}

}  // namespace stormcell::report
