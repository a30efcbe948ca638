#include "core/profile/skew.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

namespace stormcell {
namespace {

constexpr double kMostAlpha = 8;

/// [branches] shares of the middles of equally likely parts, ascending.
std::vector<double> shares_by_law(size_t branches, double alpha, double low, double high) {
  const double power = 1 - alpha;
  std::vector<double> shares;
  for (size_t b = 0; b < branches; ++b) {
    const double u = (static_cast<double>(b) + 0.5) / static_cast<double>(branches);
    // Near 1 the powers cancel; the quantile becomes that of the logarithm.
    shares.push_back(std::abs(power) < 1e-6 ? low * std::pow(high / low, u)
                                            : low * std::pow((std::pow(high / low, power) - 1) * u + 1, 1 / power));
  }
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.);
  for (double& s : shares) s /= sum;
  return shares;
}

/// Golden sections of each of several parts: the error need not have one valley alone.
double least(const std::function<double(double)>& error) {
  constexpr int kParts = 16, kSteps = 48;
  const double golden = (std::sqrt(5.) - 1) / 2;
  double best = 0, best_error = error(0);
  for (int p = 0; p < kParts; ++p) {
    double a = kMostAlpha * p / kParts, b = kMostAlpha * (p + 1) / kParts;
    for (int i = 0; i < kSteps; ++i) {
      const double c = b - golden * (b - a), d = a + golden * (b - a);
      error(c) <= error(d) ? b = d : a = c;
    }
    const double at = (a + b) / 2, of = error(at);
    if (of < best_error) best = at, best_error = of;
  }
  return best;
}

}  // namespace

std::optional<PowerLaw> power_law_of(std::span<const int64_t> loads, int64_t cells) {
  const double choices = std::accumulate(loads.begin(), loads.end(), int64_t{0});
  if (choices <= 0 || cells <= 0) return {};
  std::vector<double> shares;
  for (const int64_t load : loads) shares.push_back(static_cast<double>(load) / choices);
  std::sort(shares.begin(), shares.end());
  const bool many = choices > static_cast<double>(loads.size()) && cells > 1;
  const double low = many ? 1 : 0.01, high = many ? std::max(0.8 * static_cast<double>(cells), 1.) : 2;
  const double n = loads.size();
  const auto error = [&](double alpha) {
    const std::vector<double> law = shares_by_law(shares.size(), alpha, low, high);
    double sum = 0;
    for (size_t b = 0; b < shares.size(); ++b) sum += (law[b] - shares[b]) * (law[b] - shares[b]);
    return n * std::sqrt(sum / n);
  };
  PowerLaw law;
  law.alpha = least(error), law.error = error(law.alpha);
  return law;
}

double distinct_branches(std::span<const int64_t> loads, int64_t cells, double drawn) {
  double distinct = 0;
  for (const int64_t load : loads) distinct += 1 - std::pow(std::max(1 - static_cast<double>(load) / cells, 0.), drawn);
  return distinct;
}

}  // namespace stormcell
