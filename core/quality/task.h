// Quality of a model's answers, judged by the data: one task a file, one row in tasks.cpp.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/data/batch.h"
#include "core/data/dataset.h"
#include "core/models/model.h"
#include "core/runtime/executor.h"

namespace stormcell {

/// Score of one item: a part of a whole. Examples: right or wrong, of 1; pixels marked by both, of those marked by
/// either; squared error, of the number of values. If an item shows several classes, it has a score for each.
struct ItemScore {
  int64_t item = 0;  ///< its number in the data
  double part = 0, whole = 1;
  int32_t group = -1;   ///< its class; -1: none
  int32_t answer = -1;  ///< the group that was answered; -1: answers are no groups
};

/// The kind of mean that a measure's value is.
enum class Mean : uint8_t {
  none,     ///< the value of the sums of parts and wholes
  items,    ///< of the items' values
  classes,  ///< of the classes' values, each of the sums of its parts and wholes
};

/// Judges a batch's answers by the data.
class TaskJudge {
 public:
  virtual ~TaskJudge() = default;
  /// Adds the scores of each item of the batch that can be judged. `answers`: the output that Model::answer names.
  virtual void score(const Batch& batch, const OutputValue& answers, std::vector<ItemScore>& scores) = 0;
  /// Names of the groups, by number; empty: there are none.
  virtual std::vector<std::string> groups() const { return {}; }
  /// Share of the values that the data judge, over all items so far; empty: all, or the task has no such choice.
  virtual std::optional<double> judged_share() const { return {}; }
  /// Reasons why some or all items cannot be judged, a sentence each; complete after all batches.
  virtual std::vector<std::string> warnings() const { return {}; }
};

struct QualityTask {
  Task task;
  std::string_view name;      ///< "classification"
  std::string_view measure;   ///< "accuracy"
  std::string_view unit;      ///< "share": shown as percent; else behind the number
  std::string_view interval;  ///< method of the interval: "Wilson"
  std::string_view counts;    ///< word for what `part` counts, in a sentence: "right"; empty: it counts nothing
  bool more_is_better;
  Mean mean;
  double least_change;           ///< of an item's value: smaller changes are rounding
  bool change_is_share = false;  ///< least_change is a share of the value
  double (*value)(double part, double whole);
  /// 95 % interval over the items; empty if there are too few.
  std::optional<std::array<double, 2>> (*ci95)(std::span<const ItemScore> scores);
  /// Null if the data have nothing to judge by; the reason is added to `warnings`.
  std::unique_ptr<TaskJudge> (*judge)(const Model& model, const Dataset& data, std::vector<std::string>& warnings);
};

/// Numbers of judged values and of all.
struct JudgedValues {
  int64_t judged = 0, all = 0;
  std::optional<double> share() const {
    if (judged == all) return std::nullopt;
    return static_cast<double>(judged) / all;
  }
};

/// The class with the largest logit, the first of equal ones. -1: one of the logits is NaN, or none is above -infinity.
int32_t largest_class(const float* logits, int64_t classes);

/// Groups scores by item: a judge adds those of one item together.
std::vector<std::span<const ItemScore>> by_item(std::span<const ItemScore> scores);
/// Value of the measure over at least one item; for the scores of one item, its value.
double value_of(const QualityTask& task, std::span<const ItemScore> scores);

/// The class's name, or its number if it has none.
std::string class_name(const std::vector<std::string>& names, int64_t number);
/// Names of the classes 0 to classes - 1.
std::vector<std::string> class_names(const std::vector<std::string>& names, int64_t classes);
/// Throws unless the answers hold this many values, so that nothing is read beyond them if a plan makes less than its
/// graph says. `of`: the values that they are compared with, "the classes of its pixels".
void expect_values(const Batch& batch, const OutputValue& answers, int64_t values, std::string_view of);

/// Null for Task::none.
const QualityTask* quality_task(Task task);

/// classification.cpp
std::unique_ptr<TaskJudge> judge_classes(const Model& model, const Dataset& data, std::vector<std::string>& warnings);
/// language.cpp
std::unique_ptr<TaskJudge> judge_language(const Model& model, const Dataset& data, std::vector<std::string>& warnings);
/// segmentation.cpp
std::unique_ptr<TaskJudge> judge_class_maps(const Model& model, const Dataset& data,
                                            std::vector<std::string>& warnings);
/// super_resolution.cpp
std::unique_ptr<TaskJudge> judge_pictures(const Model& model, const Dataset& data, std::vector<std::string>& warnings);

}  // namespace stormcell
