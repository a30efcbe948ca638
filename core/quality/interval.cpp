#include "core/quality/interval.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace stormcell {
namespace {

/// Numbers of things, as many as there are, each any of them.
void draw(std::mt19937_64& random, std::vector<size_t>& drawn) {
  for (size_t& at : drawn) at = random() % drawn.size();
}

/// Percentiles of what `figure` gives of each sample that it draws.
template <class Figure>
std::array<double, 2> drawn_interval(Figure figure) {
  constexpr size_t kSamples = 2000, kOutside = kSamples / 40;
  std::mt19937_64 random(0);  // NOLINT(bugprone-random-generator-seed): the same figures each time
  std::vector<double> figures(kSamples);
  for (double& of_sample : figures) of_sample = figure(random);
  std::sort(figures.begin(), figures.end());
  return {figures[kOutside], figures[kSamples - 1 - kOutside]};
}

}  // namespace

std::optional<std::array<double, 2>> wilson_interval(int64_t right, int64_t of) {
  if (of <= 0) return std::nullopt;
  constexpr double z = 1.959964;  // of the normal distribution, two-sided 95 %
  const double n = of;
  const double p = static_cast<double>(right) / n, z2 = z * z / n;
  const double centre = (p + z2 / 2) / (1 + z2), half = z / (1 + z2) * std::sqrt(p * (1 - p) / n + z2 / (4 * n));
  // At 0 and 1, rounding alone could leave a small rest.
  return std::array{right == 0 ? 0.0 : std::max(0.0, centre - half), right == of ? 1.0 : std::min(1.0, centre + half)};
}

std::optional<std::array<double, 2>> bootstrap_interval(
    std::array<size_t, 2> counts,
    const std::function<double(std::span<const size_t>, std::span<const size_t>)>& figure) {
  if (counts[0] < 2 || counts[1] < 2) return std::nullopt;
  return drawn_interval(
      [&, first = std::vector<size_t>(counts[0]), second = std::vector<size_t>(counts[1])](auto& random) mutable {
        draw(random, first), draw(random, second);
        return figure(first, second);
      });
}

std::optional<std::array<double, 2>> bootstrap_interval(size_t count,
                                                        const std::function<double(std::span<const size_t>)>& figure) {
  if (count < 2) return std::nullopt;
  return drawn_interval([&, drawn = std::vector<size_t>(count)](auto& random) mutable {
    draw(random, drawn);
    return figure(drawn);
  });
}

std::optional<std::array<double, 2>> bootstrap_interval(std::span<const double> values) {
  return bootstrap_interval(values.size(), [&](std::span<const size_t> drawn) {
    double sum = 0;
    for (const size_t at : drawn) sum += values[at];
    return sum / static_cast<double>(values.size());
  });
}

}  // namespace stormcell
