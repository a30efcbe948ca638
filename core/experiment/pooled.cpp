#include "core/experiment/pooled.h"

#include <algorithm>
#include <cmath>

#include "core/base/student_t.h"

namespace stormcell {
namespace {

constexpr double kNormal95 = 1.959964;

/// Half the width of the interval from within one process, of the logarithm.
double half_width(const Measurement& m) { return m.ci95[0] > 0 && m.ci95[1] > m.ci95[0] ? std::log(m.ci95[1] / m.ci95[0]) / 2 : 0; }

}  // namespace

std::optional<Pooled> pooled(const std::vector<Measurement>& measurings) {
  if (measurings.size() < kLeastMeasurementRuns) return {};
  if (std::any_of(measurings.begin(), measurings.end(), [](const Measurement& m) { return !(m.value > 0); })) return {};
  const auto n = static_cast<double>(measurings.size());
  double mean = 0, squares = 0, within = 0;
  for (const Measurement& m : measurings) mean += std::log(m.value) / n, within += std::pow(half_width(m) / kNormal95, 2);
  for (const Measurement& m : measurings) squares += std::pow(std::log(m.value) - mean, 2);
  Pooled p;
  p.value = std::exp(mean);
  p.spread = std::sqrt(squares / (n - 1));
  p.measurings = static_cast<int64_t>(measurings.size());
  const double half = std::max(student_t_95(n - 1) * p.spread / std::sqrt(n), kNormal95 * std::sqrt(within) / n);
  p.ci95 = {std::exp(mean - half), std::exp(mean + half)};
  return p;
}

std::array<double, 2> widened(const Measurement& alone, const Pooled& as) {
  if (!(alone.value > 0) || !(alone.ci95[0] > 0)) return alone.ci95;
  const double between = student_t_95(static_cast<double>(as.measurings - 1)) * as.spread;
  const double below = std::hypot(std::log(alone.value / alone.ci95[0]), between),
               above = std::hypot(std::log(alone.ci95[1] / alone.value), between);
  return {alone.value * std::exp(-below), alone.value * std::exp(above)};
}

}  // namespace stormcell
