// The quality of every plan of a run, over the items that the data say enough about.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/quality/task.h"
#include "core/summary/results.h"

namespace stormcell {

enum class JudgedAs : uint8_t { baseline, optimized };

class QualityMeter {
 public:
  QualityMeter() = default;
  /// Has nothing to do where the model's answers are for no task, or the data say nothing about them.
  QualityMeter(const Model& model, const Dataset& data);

  /// True if there is something to judge: then plans have to give their outputs.
  bool open() const { return judge_ != nullptr; }
  /// A batch that a plan ran freely, each once.
  void add(JudgedAs plan, const Batch& batch, const std::vector<OutputValue>& outputs);
  /// Nothing where no item was judged. Adds what is to be said of those that were not.
  std::optional<QualityFigures> figures(std::vector<std::string>& warnings) const;

 private:
  PlanQuality quality_of(const std::vector<ItemScore>& scores) const;
  void compare(QualityFigures& figures) const;
  void add_groups(QualityFigures& figures) const;
  void add_wrong(QualityFigures& figures) const;
  const std::vector<ItemScore>* scores_of(JudgedAs plan) const;

  const QualityTask* task_ = nullptr;
  std::string output_, item_;
  std::vector<std::string> warnings_;
  std::unique_ptr<TaskJudge> judge_;
  std::map<JudgedAs, std::vector<ItemScore>> scores_;
  std::map<JudgedAs, int64_t> items_;  // that ran, judged or not
};

}  // namespace stormcell
