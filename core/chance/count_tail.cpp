#include "core/chance/count_tail.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace stormcell {
namespace {

/// The continued fraction of the incomplete beta function (Lentz), for x below the mean.
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300, kNear = 1e-14;
  constexpr int kMostTerms = 100000;
  const auto kept = [](double v) { return std::abs(v) < kTiny ? kTiny : v; };
  double c = 1, d = 1 / kept(1 - (a + b) * x / (a + 1)), value = d;
  for (int m = 1; m < kMostTerms; ++m) {
    double term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / kept(1 + term * d), c = kept(1 + term / c), value *= d * c;
    term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / kept(1 + term * d), c = kept(1 + term / c);
    value *= d * c;
    if (std::abs(d * c - 1) < kNear) break;
  }
  return value;
}

double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

/// log P(X = m) of a count with this mean and this share of its variance in it.
double log_probability(double m, double mean, double spread) {
  constexpr double kPoisson = 1e-6;
  const double hit = 1 - spread;
  if (hit < kPoisson) return m * std::log(mean) - mean - std::lgamma(m + 1);
  const double of = mean / hit;
  if (m > of) return -INFINITY;
  return std::lgamma(of + 1) - std::lgamma(m + 1) - std::lgamma(of - m + 1) + m * std::log(hit) +
         (of - m) * std::log(spread);
}

}  // namespace

double binomial_from(int64_t count, double of, double probability) {
  if (count <= 0) return 1;
  if (static_cast<double>(count) > of || probability <= 0) return 0;
  if (probability >= 1) return 1;
  return incomplete_beta(static_cast<double>(count), of - static_cast<double>(count) + 1, probability);
}

double binomial_to(int64_t count, double of, double probability) {
  if (count < 0) return 0;
  if (static_cast<double>(count) >= of || probability <= 0) return 1;
  if (probability >= 1) return 0;
  return incomplete_beta(of - static_cast<double>(count), static_cast<double>(count) + 1, 1 - probability);
}

double normal_beyond(double z) { return std::erfc(std::abs(z) / std::sqrt(2.)); }

LargestCount largest_count(double mean, double variance, double many) {
  LargestCount out;
  const double deviation = std::sqrt(std::max(variance, 0.));
  if (mean <= 0 || deviation < 1e-6) {
    out.range = {mean, mean, mean}, out.mean = mean;
    return out;
  }
  // Large counts are looked at in steps of a fortieth of their deviation.
  const double step = std::max(1., std::floor(deviation / 40));
  const double first = std::max(0., std::floor(mean - 8 * deviation)), end = mean + 12 * deviation + 30;
  std::vector<double> at, cumulative;
  double sum = 0;
  for (double m = first; m <= end; m += step) {
    sum += step * std::exp(log_probability(m, mean, std::min(variance / mean, 1.)));
    at.push_back(m), cumulative.push_back(sum);
  }
  double before = 0, q_low = at.front(), q_middle = q_low, q_high = q_low, second = 0, third = 0, all = 0;
  std::vector<double> share;
  for (size_t i = 0; i < at.size(); ++i) {
    const double below = std::pow(std::min(cumulative[i] / sum, 1.), many);
    share.push_back(below - before);
    if (below < kFalseCalls / 2) q_low = at[std::min(i + 1, at.size() - 1)];
    if (below < .5) q_middle = at[std::min(i + 1, at.size() - 1)];
    if (below < 1 - kFalseCalls / 2) q_high = at[std::min(i + 1, at.size() - 1)];
    before = below;
    all += share[i] * at[i];
  }
  for (size_t i = 0; i < at.size(); ++i) {
    const double apart = at[i] - all;
    second += share[i] * apart * apart, third += share[i] * apart * apart * apart;
  }
  out.range = {q_middle, q_low, q_high};
  out.mean = all, out.variance = second, out.third = third;
  return out;
}

}  // namespace stormcell
