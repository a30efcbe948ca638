#include "core/experiment/paired_speedup.h"

#include <algorithm>
#include <cmath>

#include "core/summary/latency.h"

namespace stormcell {
namespace {

constexpr int kDraws = 2000;

// Samples in ascending order of their log ratios, ready to be drawn by round.
struct Sorted {
  std::vector<double> log_ratio, weight;
  std::vector<int32_t> round;
  int32_t rounds = 0;
};

Sorted sorted(std::vector<PairedSample> samples) {
  std::sort(samples.begin(), samples.end(), [](const PairedSample& a, const PairedSample& b) { return a.log_ratio < b.log_ratio; });
  Sorted list;
  for (const PairedSample& s : samples) {
    list.log_ratio.push_back(s.log_ratio);
    list.weight.push_back(s.weight);
    list.round.push_back(s.round);
    list.rounds = std::max(list.rounds, s.round + 1);
  }
  return list;
}

// `times`: how often each round was drawn.
double weighted_median(const Sorted& list, const std::vector<int32_t>& times) {
  double total = 0;
  for (size_t i = 0; i < list.weight.size(); ++i) total += list.weight[i] * times[static_cast<size_t>(list.round[i])];
  double below = 0;
  for (size_t i = 0; i < list.weight.size(); ++i) {
    below += list.weight[i] * times[static_cast<size_t>(list.round[i])];
    if (below >= 0.5 * total) return list.log_ratio[i];
  }
  return 0;
}

}  // namespace

double tail_of_interval(int64_t rounds) {
  constexpr double z = 1.959964;
  if (rounds < 2) return 0;
  // Student's t by Cornish and Fisher: within 0.002 from six degrees of freedom on.
  const auto v = static_cast<double>(rounds - 1);
  const double t = z + (std::pow(z, 3) + z) / (4 * v) + (5 * std::pow(z, 5) + 16 * std::pow(z, 3) + 3 * z) / (96 * v * v) +
                   (3 * std::pow(z, 7) + 19 * std::pow(z, 5) + 17 * std::pow(z, 3) - 15 * z) / (384 * v * v * v);
  return 0.5 * std::erfc(t * std::sqrt(static_cast<double>(rounds) / v) / std::sqrt(2.0));
}

Ratio paired_ratio(const std::vector<PairedSample>& samples) {
  Ratio r;
  if (samples.empty()) return r;
  const Sorted list = sorted(samples);
  const auto rounds = static_cast<size_t>(list.rounds);
  r.value = std::exp(weighted_median(list, std::vector<int32_t>(rounds, 1)));
  r.ci95 = {r.value, r.value};
  if (rounds < 2) return r;
  std::vector<double> draws;
  std::vector<int32_t> times(rounds);
  uint64_t state = 1;
  for (int draw = 0; draw < kDraws; ++draw) {
    std::fill(times.begin(), times.end(), 0);
    for (size_t i = 0; i < rounds; ++i) {
      state = state * 6364136223846793005ull + 1442695040888963407ull;
      ++times[(state >> 33) % rounds];
    }
    draws.push_back(weighted_median(list, times));
  }
  const double tail = tail_of_interval(list.rounds);
  r.ci95 = {std::exp(quantile(draws, tail)), std::exp(quantile(draws, 1 - tail))};
  return r;
}

}  // namespace stormcell
