#include "core/base/binomial_bound.h"

#include <cmath>

namespace stormcell {
namespace {

constexpr double kRest = 0.05;

/// Logarithm of the probability that at most `hits` of `of` draws are hits, each with probability `share`. The sum goes
/// down from the last term, which is the largest one for a share above the searched bound.
double log_at_most(int64_t hits, int64_t of, double share) {
  const auto n = static_cast<double>(of), k = static_cast<double>(hits);
  const double last = std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) + k * std::log(share) +
                      (n - k) * std::log1p(-share);
  double sum = 0, term = 1;
  for (double i = k; i >= 0 && term > 1e-16 * sum; --i) {
    sum += term;
    term *= i * (1 - share) / ((n - i + 1) * share);
  }
  return last + std::log(sum);
}

}  // namespace

double binomial_upper_bound(int64_t hits, int64_t of) {
  if (hits >= of) return 1;
  if (hits <= 0) return -std::expm1(std::log(kRest) / static_cast<double>(of));
  double low = static_cast<double>(hits) / of, high = 1;
  for (int step = 0; step < 60; ++step) {
    const double middle = (low + high) / 2;
    (log_at_most(hits, of, middle) > std::log(kRest) ? low : high) = middle;
  }
  return high;
}

}  // namespace stormcell
