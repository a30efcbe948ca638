// The tasks whose quality is measured, each once.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <vector>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/quality/interval.h"
#include "core/quality/task.h"

namespace stormcell {

int32_t largest_class(const float* logits, int64_t classes) {
  int32_t largest = -1;
  float most = -std::numeric_limits<float>::infinity();
  for (int64_t c = 0; c < classes; ++c) {
    if (std::isnan(logits[c])) return -1;
    if (logits[c] > most) most = logits[c], largest = static_cast<int32_t>(c);
  }
  return largest;
}

namespace {

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

std::optional<std::array<double, 2>> wilson_of_items(std::span<const ItemScore> scores) {
  const auto right = std::count_if(scores.begin(), scores.end(), [](const ItemScore& s) { return s.part > 0; });
  return wilson_interval(right, std::ssize(scores));
}

/// For values from 0 to 1. Equal pictures get a finite value, not infinity.
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

/// Sums of one class.
struct Overlap {
  double part = 0, whole = 0;
};
/// Mean over the classes with any judged pixel.
double mean_of_classes(const std::map<int32_t, Overlap>& classes) {
  double sum = 0, count = 0;
  for (const auto& [_, o] : classes)
    if (o.whole > 0) sum += share(o.part, o.whole), count += 1;
  return count > 0 ? sum / count : 0;
}

/// Draws pictures, each with all of its classes.
std::optional<std::array<double, 2>> drawn_iou(std::span<const ItemScore> scores) {
  const std::vector<std::span<const ItemScore>> pictures = by_item(scores);
  return bootstrap_interval(pictures.size(), [&](std::span<const size_t> drawn) {
    std::map<int32_t, Overlap> classes;
    for (const size_t at : drawn)
      for (const ItemScore& s : pictures[at]) classes[s.group].part += s.part, classes[s.group].whole += s.whole;
    return mean_of_classes(classes);
  });
}

constexpr double kIouRounding = 0.001;  // a pixel in a thousand

/// Takes the sum of -log p over tokens. An exponent above this has no double.
double perplexity(double nats, double tokens) {
  constexpr double kMostExponent = 700;
  return tokens > 0 ? std::exp(std::min(nats / tokens, kMostExponent)) : 0;
}

/// Draws sequences, each with all of its tokens.
std::optional<std::array<double, 2>> drawn_perplexity(std::span<const ItemScore> scores) {
  return bootstrap_interval(scores.size(), [&](std::span<const size_t> drawn) {
    double part = 0, whole = 0;
    for (const size_t at : drawn) part += scores[at].part, whole += scores[at].whole;
    return perplexity(part, whole);
  });
}

constexpr double kPerplexityRounding = 0.001;  // of its value

constexpr QualityTask kTasks[] = {
    {.task = Task::classification,
     .name = "classification",
     .measure = "accuracy",
     .unit = "share",
     .interval = "Wilson",
     .counts = "right",
     .more_is_better = true,
     .mean = Mean::none,
     .least_change = 0,
     .value = share,
     .ci95 = wilson_of_items,
     .judge = judge_classes},
    {.task = Task::super_resolution,
     .name = "super-resolution",
     .measure = "PSNR",
     .unit = "dB",
     .interval = "bootstrap",
     .counts = "",
     .more_is_better = true,
     .mean = Mean::items,
     .least_change = kPsnrRounding,
     .value = psnr,
     .ci95 = drawn_psnr,
     .judge = judge_pictures},
    {.task = Task::segmentation,
     .name = "segmentation",
     .measure = "mean IoU",
     .unit = "share",
     .interval = "bootstrap",
     .counts = "",
     .more_is_better = true,
     .mean = Mean::classes,
     .least_change = kIouRounding,
     .value = share,
     .ci95 = drawn_iou,
     .judge = judge_class_maps},
    {.task = Task::language,
     .name = "language",
     .measure = "perplexity",
     .unit = "",
     .interval = "bootstrap",
     .counts = "",
     .more_is_better = false,
     .mean = Mean::none,
     .least_change = kPerplexityRounding,
     .change_is_share = true,
     .value = perplexity,
     .ci95 = drawn_perplexity,
     .judge = judge_language},
};

}  // namespace

std::vector<std::span<const ItemScore>> by_item(std::span<const ItemScore> scores) {
  std::vector<std::span<const ItemScore>> items;
  for (size_t first = 0, end = 0; first < scores.size(); first = end) {
    while (end < scores.size() && scores[end].item == scores[first].item) ++end;
    items.push_back(scores.subspan(first, end - first));
  }
  return items;
}

double value_of(const QualityTask& task, std::span<const ItemScore> scores) {
  double part = 0, whole = 0, sum = 0;
  std::map<int32_t, Overlap> classes;
  for (const ItemScore& s : scores) {
    part += s.part, whole += s.whole, sum += task.value(s.part, s.whole);
    if (task.mean == Mean::classes) classes[s.group].part += s.part, classes[s.group].whole += s.whole;
  }
  switch (task.mean) {
    case Mean::items:
      return sum / static_cast<double>(scores.size());
    case Mean::classes:
      return mean_of_classes(classes);
    case Mean::none:
      break;
  }
  return task.value(part, whole);
}

std::string class_name(const std::vector<std::string>& names, int64_t number) {
  return number < std::ssize(names) ? names[number] : std::to_string(number);
}

std::vector<std::string> class_names(const std::vector<std::string>& names, int64_t classes) {
  std::vector<std::string> all;
  for (int64_t n = 0; n < classes; ++n) all.push_back(class_name(names, n));
  return all;
}

void expect_values(const Batch& batch, const OutputValue& answers, int64_t values, std::string_view of) {
  const auto came = std::ssize(answers.reals);
  if (came != values)
    failed("quality", "the answers to batch " + std::to_string(batch.index) + " hold " + counted(came, "value") + ", " +
                          std::string(of) + " " + with_commas(values));
}

const QualityTask* quality_task(Task task) {
  const auto at =
      std::find_if(std::begin(kTasks), std::end(kTasks), [&](const QualityTask& t) { return t.task == task; });
  return at == std::end(kTasks) ? nullptr : at;
}

}  // namespace stormcell
