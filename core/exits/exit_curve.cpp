#include "core/exits/exit_curve.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "core/cell/router_threshold.h"

namespace stormcell {
namespace {

constexpr size_t kQuantiles = 28;

/// Thresholds of the curve: from that at which all items leave at the first exit to that at which none does; between
/// them quantiles of the confidences of all tests, as the numbers with the fewest digits. Largest softmaxes crowd below
/// 1 of ten classes and near 0.1 of a thousand: no fixed numbers suit both.
std::vector<double> thresholds_of(const ExitRecord& record) {
  std::vector<float> sorted;
  for (const std::vector<float>& of_test : record.confidence)
    std::copy_if(of_test.begin(), of_test.end(), std::back_inserter(sorted), [](float c) { return std::isfinite(c); });
  std::sort(sorted.begin(), sorted.end());
  std::vector<double> list{kAllLeave};
  for (size_t q = 1; q < kQuantiles && !sorted.empty(); ++q) {
    const float high = sorted[q * sorted.size() / kQuantiles];
    const auto above = std::lower_bound(sorted.begin(), sorted.end(), high);
    if (above == sorted.begin()) continue;  // all reach it
    if (const double threshold = threshold_between(*(above - 1), high); threshold > list.back())
      list.push_back(threshold);
  }
  list.push_back(kNoneLeaves);
  return list;
}

/// The measure over the items that leave at one exit; nothing: none that can be judged does.
std::optional<double> value_at(const ExitRecord& record, const std::vector<int32_t>& taken, size_t exit) {
  std::vector<size_t> there;
  for (size_t i = 0; i < taken.size(); ++i)
    if (static_cast<size_t>(taken[i]) == exit) there.push_back(i);
  if (there.empty()) return std::nullopt;
  return record.point(there, std::vector<int32_t>(there.size(), static_cast<int32_t>(exit))).value;
}

void add_classes(const ExitRecord& record, const std::vector<int32_t>& taken, ExitCurve& c) {
  for (size_t g = 0; g < record.classes.size(); ++g) {
    ExitClass of{record.classes[g], std::vector<int64_t>(record.exits(), 0)};
    for (size_t i = 0; i < taken.size(); ++i)
      if (record.scores.front()[i].group == static_cast<int32_t>(g)) ++of.items[taken[i]];
    if (std::accumulate(of.items.begin(), of.items.end(), int64_t{0}) > 0) c.classes.push_back(std::move(of));
  }
}

}  // namespace

ExitCurve exit_curve(const ExitRecord& record) {
  ExitCurve c;
  c.measure = std::string(record.task->measure), c.unit = std::string(record.task->unit), c.item = record.item;
  c.items = static_cast<int64_t>(record.items()), c.judged = static_cast<int64_t>(record.judged());
  c.thresholds = record.thresholds();
  c.plan = record.of_baseline ? CurvePlan::baseline : CurvePlan::optimized;
  std::vector<size_t> all(record.items());
  std::iota(all.begin(), all.end(), size_t{0});
  const std::vector<int32_t> taken = record.taken(c.thresholds);
  c.chosen = record.point(all, taken);
  c.chosen.threshold = c.thresholds.front();
  for (const double threshold : thresholds_of(record)) {
    c.curve.push_back(record.point(all, record.taken(std::vector<double>(record.chain.tests.size(), threshold))));
    c.curve.back().threshold = threshold;
  }
  for (size_t e = 0; e < record.exits(); ++e) {
    const ExitPoint everybody = record.point(all, std::vector<int32_t>(all.size(), static_cast<int32_t>(e)));
    c.exits.push_back({e < record.chain.tests.size() ? record.chain.tests[e].router : std::string(),
                       everybody.mean_cost, c.chosen.items[e], value_at(record, taken, e), everybody.value});
    if (!record.of_baseline) c.exits.back().baseline_cost = record.baseline_share(e);
  }
  add_classes(record, taken, c);
  return c;
}

}  // namespace stormcell
