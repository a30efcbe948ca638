#include "core/summary/table_times.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace stormcell {

TableTimes::TableTimes(const std::vector<double>& ms) {
  constexpr double kInMs = 0.1;
  double most = 0;
  for (const double time : ms) most = std::max(most, std::fabs(time));
  in_us_ = most > 0 && most < kInMs;
}

std::string TableTimes::text(double ms) const {
  constexpr double kLeast = 1e-9;
  constexpr int kDigits = 3;
  const double time = in_us_ ? 1e3 * ms : ms, size = std::fabs(time);
  if (size < kLeast) return "0";
  const int whole = std::isfinite(size) ? static_cast<int>(std::floor(std::log10(size))) + 1 : kDigits;
  char text[512];
  std::snprintf(text, sizeof text, "%.*f", std::max(0, kDigits - whole), time);
  return text;
}
std::string TableTimes::text(const std::optional<double>& ms) const { return ms ? text(*ms) : "-"; }

}  // namespace stormcell
