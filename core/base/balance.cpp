#include "core/base/balance.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace stormcell {
namespace {
double sum_of(std::span<const int64_t> loads) { return std::accumulate(loads.begin(), loads.end(), 0.0); }
}  // namespace

double imbalance(std::span<const int64_t> loads) {
  const double sum = sum_of(loads);
  if (sum <= 0) return 0;
  return static_cast<double>(*std::max_element(loads.begin(), loads.end())) * loads.size() / sum - 1;
}

double entropy_bits(std::span<const int64_t> loads) {
  const double sum = sum_of(loads);
  double bits = 0;
  for (const int64_t load : loads)
    if (load > 0) bits -= static_cast<double>(load) / sum * std::log2(static_cast<double>(load) / sum);
  return bits;
}

double gini(std::span<const int64_t> loads) {
  const double sum = sum_of(loads);
  if (sum <= 0) return 0;
  // Uses, with sorted x: sum_ij |x_i - x_j| = 2 sum_i (2i - n + 1) x_i, i from 0.
  std::vector<int64_t> sorted(loads.begin(), loads.end());
  std::sort(sorted.begin(), sorted.end());
  const double n = sorted.size();
  double differences = 0;
  for (size_t i = 0; i < sorted.size(); ++i)
    differences += (2 * static_cast<double>(i) - n + 1) * static_cast<double>(sorted[i]);
  return differences / (n * sum);
}

int32_t touched(std::span<const int64_t> loads) {
  return static_cast<int32_t>(std::count_if(loads.begin(), loads.end(), [](int64_t load) { return load > 0; }));
}

std::vector<int32_t> hot_set(std::span<const int64_t> loads, double share) {
  std::vector<int32_t> order(loads.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return loads[a] > loads[b]; });
  const double needed = share * sum_of(loads);
  double held = 0;
  size_t taken = 0;
  while (taken < order.size() && held < needed) held += static_cast<double>(loads[order[taken++]]);
  order.resize(taken);
  return order;
}

std::vector<int32_t> cold_set(std::span<const int64_t> loads, double part_of_mean) {
  const double below = part_of_mean * sum_of(loads) / static_cast<double>(std::max<size_t>(loads.size(), 1));
  std::vector<int32_t> cold;
  for (size_t b = 0; b < loads.size(); ++b)
    if (static_cast<double>(loads[b]) < below) cold.push_back(static_cast<int32_t>(b));
  return cold;
}

}  // namespace stormcell
