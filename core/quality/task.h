// How good a model's answers are beside what the data say: one task a file, one row in tasks.cpp.
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

/// What one item brings to a measure: a part of a whole. Right or wrong of 1; pixels that both marked of those that
/// either did; squared error of so many values. A task whose items show several classes gives a score for each of them.
struct ItemScore {
  int64_t item = 0;  ///< its number in the data
  double part = 0, whole = 1;
  int32_t group = -1;   ///< its class; -1: none
  int32_t answer = -1;  ///< the group that was answered; -1: answers are no groups
};

/// What the value of a measure is the mean of.
enum class Mean : uint8_t {
  none,     ///< the value of the sums of parts and wholes
  items,    ///< of the items' values
  classes,  ///< of the classes' values, each of the sums of its parts and wholes
};

/// Holds a batch's answers against what the data say of it.
class TaskJudge {
 public:
  virtual ~TaskJudge() = default;
  /// Adds the scores of each item of the batch that can be judged. `answers`: of the output that Model::answer names.
  virtual void score(const Batch& batch, const OutputValue& answers, std::vector<ItemScore>& scores) = 0;
  /// Names of the groups, by number; empty: there are none.
  virtual std::vector<std::string> groups() const { return {}; }
  /// Of the values of all items that came, the share that the data have judged; nothing: all, or there is no such
  /// choice.
  virtual std::optional<double> judged_share() const { return {}; }
  /// Why some items cannot be judged, or none, a sentence each; after all batches.
  virtual std::vector<std::string> warnings() const { return {}; }
};

struct QualityTask {
  Task task;
  std::string_view name;      ///< "classification"
  std::string_view measure;   ///< "accuracy"
  std::string_view unit;      ///< "share": shown as percent; else behind the number
  std::string_view interval;  ///< how the interval is computed: "Wilson"
  std::string_view counts;    ///< what `part` counts, as a sentence has it: "right"; empty: nothing that is counted
  bool more_is_better;
  Mean mean;
  double least_change;  ///< of an item's value: what is less is rounding
  double (*value)(double part, double whole);
  /// 95 %, over the items; nothing where there are too few.
  std::optional<std::array<double, 2>> (*ci95)(std::span<const ItemScore> scores);
  /// Null where the data bring nothing to judge by; what is to be said of that is added to `warnings`.
  std::unique_ptr<TaskJudge> (*judge)(const Model& model, const Dataset& data, std::vector<std::string>& warnings);
};

/// Values that are judged, of all.
struct JudgedValues {
  int64_t judged = 0, all = 0;
  std::optional<double> share() const {
    if (judged == all) return std::nullopt;
    return static_cast<double>(judged) / all;
  }
};

/// The class of the largest of so many logits, of equal ones the first; -1: one of them is no number, or none is above
/// -infinity.
int32_t largest_class(const float* logits, int64_t classes);

/// The scores of each item, in their order: a judge leaves them one behind the other.
std::vector<std::span<const ItemScore>> by_item(std::span<const ItemScore> scores);
/// Over the items, of which there is one at least; of one item's scores, its value.
double value_of(const QualityTask& task, std::span<const ItemScore> scores);

/// Of a class that nobody has named, its number.
std::string class_name(const std::vector<std::string>& names, int64_t number);
/// Of so many classes.
std::vector<std::string> class_names(const std::vector<std::string>& names, int64_t classes);
/// Throws unless the answers hold so many values, so that nothing is read beyond them where a plan does not make what
/// its graph says. `of`: what they are held against, "the classes of its pixels".
void expect_values(const Batch& batch, const OutputValue& answers, int64_t values, std::string_view of);

/// Null of Task::none.
const QualityTask* quality_task(Task task);

/// classification.cpp
std::unique_ptr<TaskJudge> judge_classes(const Model& model, const Dataset& data, std::vector<std::string>& warnings);
/// segmentation.cpp
std::unique_ptr<TaskJudge> judge_class_maps(const Model& model, const Dataset& data,
                                            std::vector<std::string>& warnings);
/// super_resolution.cpp
std::unique_ptr<TaskJudge> judge_pictures(const Model& model, const Dataset& data, std::vector<std::string>& warnings);

}  // namespace stormcell
