#include "core/experiment/measure.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

namespace stormcell {
namespace {
double seconds_now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
}  // namespace

double quantile(std::vector<double> values, double q) {
  if (values.empty()) return 0;
  const auto rank =
      static_cast<size_t>(std::clamp(std::ceil(q * static_cast<double>(values.size())) - 1, 0.0, static_cast<double>(values.size() - 1)));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(rank), values.end());
  return values[rank];
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 ? values[middle] : 0.5 * (values[middle - 1] + values[middle]);
}

Latency latency_of(const std::vector<double>& ms) {
  Latency l;
  l.runs = static_cast<int64_t>(ms.size());
  if (ms.empty()) return l;
  l.median = median(ms);
  l.p95 = quantile(ms, 0.95);
  l.min = *std::min_element(ms.begin(), ms.end());
  return l;
}

double repeat_spread(const std::vector<double>& ms, size_t batches) {
  if (batches == 0 || ms.size() < 2 * batches) return 1;
  std::vector<double> ratios;
  for (size_t b = 0; b < batches; ++b) {
    std::vector<double> same;
    for (size_t i = b; i < ms.size(); i += batches) same.push_back(ms[i]);
    const double middle = median(same);
    for (const double m : same)
      if (middle > 0) ratios.push_back(m / middle);
  }
  return ratios.empty() ? 1 : quantile(std::move(ratios), 0.95);
}

Ratio ratio_of_medians(const std::vector<double>& slow, const std::vector<double>& fast) {
  Ratio r;
  const size_t n = std::min(slow.size(), fast.size());
  if (n == 0) return r;
  r.value = median(slow) / median(fast);
  constexpr int kDraws = 2000;
  std::vector<double> ratios, a(n), b(n);
  uint64_t state = 1;
  for (int draw = 0; draw < kDraws; ++draw) {
    for (size_t i = 0; i < n; ++i) {
      state = state * 6364136223846793005ull + 1442695040888963407ull;
      const size_t pick = (state >> 33) % n;
      a[i] = slow[pick];
      b[i] = fast[pick];
    }
    ratios.push_back(median(a) / median(b));
  }
  r.ci95 = {quantile(ratios, 0.025), quantile(ratios, 0.975)};
  return r;
}

std::vector<int64_t> measured_batches(int64_t count, double round_ms, size_t plans, int rounds, double seconds) {
  const double fits = seconds * 1e3 / (std::max(round_ms, 1e-6) * static_cast<double>(plans) * (rounds + 1));
  const auto stride = static_cast<int64_t>(std::ceil(1 / std::clamp(fits, 1 / static_cast<double>(std::max<int64_t>(count, 1)), 1.0)));
  std::vector<int64_t> list;
  for (int64_t b = stride / 2; b < count; b += stride) list.push_back(b);
  if (list.empty()) list.push_back(0);
  return list;
}

Rounds alternate(const std::vector<std::function<std::vector<double>()>>& plans, double seconds, int least, const Progress& progress) {
  Rounds rounds;
  rounds.total.resize(plans.size());
  rounds.batches.resize(plans.size());
  const double begin = seconds_now();
  for (int round = 0; round <= least || seconds_now() - begin < seconds; ++round) {
    progress.report("measuring", std::llround(10 * (seconds_now() - begin)), std::llround(10 * seconds));
    for (size_t i = 0; i < plans.size(); ++i) {
      const size_t plan = (i + static_cast<size_t>(round)) % plans.size();
      const std::vector<double> ms = plans[plan]();
      if (round == 0) continue;
      rounds.total[plan].push_back(std::accumulate(ms.begin(), ms.end(), 0.0));
      rounds.batches[plan].insert(rounds.batches[plan].end(), ms.begin(), ms.end());
    }
  }
  return rounds;
}

}  // namespace stormcell
