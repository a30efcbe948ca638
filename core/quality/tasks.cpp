// The tasks whose quality is measured, each once.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "core/quality/interval.h"
#include "core/quality/task.h"

namespace stormcell {
namespace {

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

std::optional<std::array<double, 2>> wilson_of_items(std::span<const ItemScore> scores) {
  const auto right = std::count_if(scores.begin(), scores.end(), [](const ItemScore& s) { return s.part > 0; });
  return wilson_interval(right, static_cast<int64_t>(scores.size()));
}

/// Of values from 0 to 1. What is equal to the last bit would be infinite.
double psnr(double squared_error, double values) {
  constexpr double kNoError = 1e-10;
  return values > 0 ? -10 * std::log10(std::max(squared_error / values, kNoError)) : 0;
}

std::optional<std::array<double, 2>> drawn_psnr(std::span<const ItemScore> scores) {
  std::vector<double> values;
  for (const ItemScore& s : scores) values.push_back(psnr(s.part, s.whole));
  return bootstrap_interval(values);
}

constexpr double kPsnrRounding = 0.01;  // dB

constexpr QualityTask kTasks[] = {
    {Task::classification, "classification", "accuracy", "share", "Wilson", "right", true, false, 0, share, wilson_of_items, judge_classes},
    {Task::super_resolution, "super-resolution", "PSNR", "dB", "bootstrap", "", true, true, kPsnrRounding, psnr, drawn_psnr,
     judge_pictures},
};

}  // namespace

double value_of(const QualityTask& task, std::span<const ItemScore> scores) {
  double part = 0, whole = 0, sum = 0;
  for (const ItemScore& s : scores) part += s.part, whole += s.whole, sum += task.value(s.part, s.whole);
  return task.averages_items ? sum / static_cast<double>(scores.size()) : task.value(part, whole);
}

const QualityTask* quality_task(Task task) {
  const auto at = std::find_if(std::begin(kTasks), std::end(kTasks), [&](const QualityTask& t) { return t.task == task; });
  return at == std::end(kTasks) ? nullptr : at;
}

}  // namespace stormcell
