// The tasks whose quality is measured, each once.
#include <algorithm>
#include <iterator>

#include "core/quality/interval.h"
#include "core/quality/task.h"

namespace stormcell {
namespace {

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

std::optional<std::array<double, 2>> wilson_of_items(std::span<const ItemScore> scores) {
  const auto right = std::count_if(scores.begin(), scores.end(), [](const ItemScore& s) { return s.part > 0; });
  return wilson_interval(right, static_cast<int64_t>(scores.size()));
}

constexpr QualityTask kTasks[] = {
    {Task::classification, "classification", "accuracy", "share", "Wilson", "right", true, share, wilson_of_items, judge_classes},
};

}  // namespace

const QualityTask* quality_task(Task task) {
  const auto at = std::find_if(std::begin(kTasks), std::end(kTasks), [&](const QualityTask& t) { return t.task == task; });
  return at == std::end(kTasks) ? nullptr : at;
}

}  // namespace stormcell
