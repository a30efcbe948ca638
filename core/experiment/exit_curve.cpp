#include "core/experiment/exit_curve.h"

#include <numeric>

namespace stormcell {
namespace {

/// Thresholds of the curve: round numbers, closer where softmaxes crowd; at 0 all items leave at the first exit, beyond 1 none does.
std::vector<double> grid() {
  std::vector<double> list;
  for (int percent = 0; percent < 98; percent += percent < 80 ? 5 : 2) list.push_back(percent / 100.0);
  for (const double t : {0.98, 0.99, 0.995, 0.999, kMostExitThreshold}) list.push_back(t);
  return list;
}

/// The measure over the items that leave at one exit; nothing: none does.
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
      if (record.scores.front()[i].group == static_cast<int32_t>(g)) ++of.items[static_cast<size_t>(taken[i])];
    if (std::accumulate(of.items.begin(), of.items.end(), int64_t{0}) > 0) c.classes.push_back(std::move(of));
  }
}

}  // namespace

ExitCurve exit_curve(const ExitRecord& record) {
  ExitCurve c;
  c.measure = std::string(record.task->measure), c.unit = std::string(record.task->unit), c.item = record.item;
  c.items = static_cast<int64_t>(record.items());
  c.thresholds = record.thresholds();
  std::vector<size_t> all(record.items());
  std::iota(all.begin(), all.end(), size_t{0});
  const std::vector<int32_t> taken = record.taken(c.thresholds);
  c.chosen = record.point(all, taken);
  c.chosen.threshold = c.thresholds.front();
  for (const double threshold : grid()) {
    c.curve.push_back(record.point(all, record.taken(std::vector<double>(record.chain.rules.size(), threshold))));
    c.curve.back().threshold = threshold;
  }
  for (size_t e = 0; e < record.exits(); ++e) {
    const ExitPoint everybody = record.point(all, std::vector<int32_t>(all.size(), static_cast<int32_t>(e)));
    c.exits.push_back({e < record.chain.routers.size() ? record.chain.routers[e] : std::string(), everybody.mean_cost, c.chosen.items[e],
                       value_at(record, taken, e), everybody.value});
  }
  add_classes(record, taken, c);
  return c;
}

}  // namespace stormcell
