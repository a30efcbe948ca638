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

/// The scores of one batch that a plan ran.
struct JudgedBatch {
  int64_t index = 0, items = 0;  ///< items that ran, judged or not
  std::vector<ItemScore> scores;
};

class QualityMeter {
 public:
  QualityMeter() = default;
  /// Idle if the model's answers have no task, or the data have no labels for them.
  QualityMeter(const Model& model, const Dataset& data);

  /// True if there is something to judge: then plans have to give their outputs.
  bool open() const { return judge_ != nullptr; }
  /// A batch that a plan ran freely, each once.
  void add(JudgedAs plan, const Batch& batch, const std::vector<OutputValue>& outputs);
  /// Judges both plans on the batches that both ran: a time limit may end one of them earlier. Nothing if no item was
  /// judged. Adds warnings about items that were not judged.
  std::optional<QualityFigures> figures(std::vector<std::string>& warnings) const;

 private:
  struct Judged {
    std::vector<ItemScore> scores;  // at least one
    int64_t items = 0;
  };
  using JudgedPlans = std::map<JudgedAs, Judged>;

  JudgedPlans judged_plans(std::optional<int64_t>& batches) const;
  PlanQuality quality_of(const std::vector<ItemScore>& scores) const;
  void compare(const JudgedPlans& judged, QualityFigures& figures) const;
  void add_groups(const JudgedPlans& judged, QualityFigures& figures) const;
  void add_wrong(const JudgedPlans& judged, QualityFigures& figures) const;

  const QualityTask* task_ = nullptr;
  std::string output_, item_;
  std::vector<std::string> warnings_;
  std::unique_ptr<TaskJudge> judge_;
  std::map<JudgedAs, std::vector<JudgedBatch>> batches_;  // in the order in which they ran
};

}  // namespace stormcell
