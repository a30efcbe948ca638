#include "core/summary/latency.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace stormcell {

double quantile(std::vector<double> values, double q) {
  if (values.empty()) return 0;
  const auto last = static_cast<double>(values.size() - 1);
  const auto rank = static_cast<std::ptrdiff_t>(std::clamp(std::ceil(q * static_cast<double>(values.size())) - 1, 0.0, last));
  std::nth_element(values.begin(), values.begin() + rank, values.end());
  return values[static_cast<size_t>(rank)];
}

double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

Latency latency_of(const std::vector<double>& ms) {
  Latency l;
  l.runs = static_cast<int64_t>(ms.size());
  if (ms.empty()) return l;
  l.median = median(ms);
  l.p95 = quantile(ms, 0.95);
  l.min = *std::min_element(ms.begin(), ms.end());
  l.mean = std::accumulate(ms.begin(), ms.end(), 0.0) / static_cast<double>(ms.size());
  return l;
}

double typical_milliseconds(const Latency& latency) { return latency.mean > 0 ? latency.mean : latency.median; }
std::string_view typical_name(const Latency& latency) { return latency.mean > 0 ? "mean" : "median"; }

}  // namespace stormcell
