#include "core/measuring/pooled.h"

#include <algorithm>
#include <cmath>

#include "core/base/student_t.h"

namespace stormcell {
namespace {

constexpr double kNormal95 = 1.959964;

/// Half the width of one process's own interval, in logarithms.
double half_width(const Measurement& m) {
  return m.ci95[0] > 0 && m.ci95[1] > m.ci95[0] ? std::log(m.ci95[1] / m.ci95[0]) / 2 : 0;
}

struct Mean {
  double value = 0, half = 0;  // half the width of the 95 % interval
};

double deviation(const std::vector<double>& values) {
  const double n = values.size();
  double mean = 0, squares = 0;
  for (const double v : values) mean += v / n;
  for (const double v : values) squares += (v - mean) * (v - mean);
  return std::sqrt(squares / (n - 1));
}

/// The mean without the `cut` smallest and largest values; the interval counts these as the nearest ones that stay.
Mean trimmed_mean(std::vector<double> values, size_t cut) {
  std::sort(values.begin(), values.end());
  const size_t all = values.size(), kept = all - 2 * cut;
  for (size_t i = 0; i < cut; ++i) values[i] = values[cut], values[all - 1 - i] = values[all - 1 - cut];
  Mean m;
  for (size_t i = cut; i < cut + kept; ++i) m.value += values[i] / static_cast<double>(kept);
  const double share = static_cast<double>(kept) / all;
  // `deviation` is that between the processes of one run, so it lacks the part that they have in common.
  const double of_mean = 1 / static_cast<double>(all) + kInCommon / (1 - kInCommon);
  m.half = student_t_95(static_cast<double>(kept - 1)) * deviation(values) / share * std::sqrt(of_mean);
  return m;
}

}  // namespace

std::optional<Pooled> pooled(const std::vector<Measurement>& measurements) {
  if (measurements.size() < kLeastMeasurementRuns) return {};
  if (std::any_of(measurements.begin(), measurements.end(), [](const Measurement& m) { return !(m.value > 0); }))
    return {};
  std::vector<double> logarithms;
  double within = 0;
  for (const Measurement& m : measurements)
    logarithms.push_back(std::log(m.value)), within += std::pow(half_width(m) / kNormal95, 2);
  const Mean mean = trimmed_mean(logarithms, measurements.size() < kRobust ? 0 : measurements.size() / 5);
  const double half = std::max(mean.half, kNormal95 * std::sqrt(within) / static_cast<double>(measurements.size()));
  Pooled p;
  p.value = std::exp(mean.value);
  p.spread = deviation(logarithms);
  p.measurements = std::ssize(measurements);
  p.ci95 = {std::exp(mean.value - half), std::exp(mean.value + half)};
  return p;
}

std::array<double, 2> widened(const Measurement& alone, const Pooled& as) {
  if (!(alone.value > 0) || !(alone.ci95[0] > 0)) return alone.ci95;
  const double between = student_t_95(static_cast<double>(as.measurements - 1)) * as.spread;
  const double below = std::hypot(std::log(alone.value / alone.ci95[0]), between),
               above = std::hypot(std::log(alone.ci95[1] / alone.value), between);
  return {alone.value * std::exp(-below), alone.value * std::exp(above)};
}

}  // namespace stormcell
