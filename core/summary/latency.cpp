#include "core/summary/latency.h"

#include <algorithm>
#include <numeric>

namespace stormcell {

Latency latency_of(const std::vector<double>& ms) {
  Latency l;
  l.runs = std::ssize(ms);
  if (ms.empty()) return l;
  l.median = median(ms);
  l.p95 = quantile(ms, 0.95);
  l.min = *std::min_element(ms.begin(), ms.end());
  l.mean = std::accumulate(ms.begin(), ms.end(), 0.0) / static_cast<double>(ms.size());
  return l;
}

double typical_milliseconds(const Latency& latency) { return latency.mean > 0 ? latency.mean : latency.median; }
std::string_view typical_name(const Latency& latency) { return has_mean(latency) ? "mean" : "median"; }

bool has_mean(const Latency& latency) { return latency.mean > 0; }

}  // namespace stormcell
