#include "core/quality/interval.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace stormcell {

std::optional<std::array<double, 2>> wilson_interval(int64_t right, int64_t of) {
  if (of <= 0) return std::nullopt;
  constexpr double z = 1.959964;  // of the normal distribution, two-sided 95 %
  const auto n = static_cast<double>(of);
  const double p = static_cast<double>(right) / n, z2 = z * z / n;
  const double centre = (p + z2 / 2) / (1 + z2), half = z / (1 + z2) * std::sqrt(p * (1 - p) / n + z2 / (4 * n));
  // At the ends rounding alone could leave a hair.
  return std::array{right == 0 ? 0.0 : std::max(0.0, centre - half), right == of ? 1.0 : std::min(1.0, centre + half)};
}

std::optional<std::array<double, 2>> bootstrap_interval(std::span<const double> values) {
  if (values.size() < 2) return std::nullopt;
  constexpr size_t kSamples = 2000, kOutside = kSamples / 40;
  std::mt19937_64 random(0);  // NOLINT(bugprone-random-generator-seed): the same figures each time
  std::vector<double> means(kSamples);
  for (double& mean : means) {
    double sum = 0;
    for (size_t i = 0; i < values.size(); ++i) sum += values[random() % values.size()];
    mean = sum / static_cast<double>(values.size());
  }
  std::sort(means.begin(), means.end());
  return std::array{means[kOutside], means[kSamples - 1 - kOutside]};
}

}  // namespace stormcell
