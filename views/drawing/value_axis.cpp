#include "views/drawing/value_axis.h"

#include <algorithm>
#include <cmath>

namespace stormcell::views {

ValueAxis ValueAxis::around(const std::vector<double>& values, double left, double right, double least, double share) {
  ValueAxis axis{0, 0, left, right};
  bool first = true;
  for (const double v : values) {
    if (!std::isfinite(v)) continue;
    axis.low = first ? v : std::min(axis.low, v), axis.high = first ? v : std::max(axis.high, v);
    first = false;
  }
  const double missing = std::max(0.0, least - (axis.high - axis.low)) / 2;
  axis.low -= missing, axis.high += missing;
  const double margin = share * (axis.high - axis.low);
  axis.low -= margin, axis.high += margin;
  return axis;
}

double ValueAxis::x(double value) const {
  const double range = high - low;
  return std::clamp(left + (range > 0 ? (value - low) / range : 0.5) * (right - left), left, right);
}

std::vector<double> ValueAxis::ticks(int most) const {
  const double range = high - low;
  if (!(range > 0) || !std::isfinite(range) || most < 1) return {};
  double step = std::pow(10, std::floor(std::log10(range / most)));
  while (range / step > most) {
    // 1, 2, 5, 10
    const double lead = step / std::pow(10, std::floor(std::log10(step) + 1e-9));
    step *= lead < 1.5 || lead > 4 ? 2 : 2.5;
  }
  std::vector<double> marks;
  for (double at = std::ceil(low / step - 1e-9); at * step <= high + 1e-9 * range; ++at) marks.push_back(at * step);
  return marks;
}

int ValueAxis::decimals(const std::vector<double>& ticks) {
  if (ticks.size() < 2) return 2;
  return std::clamp(static_cast<int>(std::ceil(-std::log10(ticks[1] - ticks[0]) - 1e-9)), 0, 6);
}

}  // namespace stormcell::views
