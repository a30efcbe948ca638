// The judge of a workload: compares two executions of one batch, of a forward pass by its outputs, of decoding by its
// tokens and their logits.
#pragma once
#include <memory>

#include "core/bench/by_size.h"
#include "core/bench/workload.h"
#include "core/verification/judged_decision.h"

namespace stormcell {

class JudgedPlan;

class WorkloadJudge {
 public:
  virtual ~WorkloadJudge() = default;
  WorkloadJudge(const WorkloadJudge&) = delete;
  WorkloadJudge& operator=(const WorkloadJudge&) = delete;

  Workload& work() const { return work_; }
  /// How cells of one item reach others in it; held as graphs are.
  const CellReach& reach(PictureSize size) const;
  /// The plan under judgement; `tokens` of each sequence are compared, 0 of a forward pass. It must not outlive either,
  /// nor `progress`.
  virtual std::unique_ptr<JudgedPlan> judged(ReadyPlan& plan, int64_t tokens, const Progress& progress) const = 0;
  /// True if both certainly write the same for a batch, so that nothing else has to be compared.
  virtual bool wrote_alike(ReadyPlan& plan, ReadyPlan& baseline, const Batch& batch) const = 0;

 protected:
  /// `stop`: whether what one sequence stops reaches the others. The workload must outlive it.
  WorkloadJudge(Workload& work, RepeatStop stop) : work_(work), stop_(stop) {}

 private:
  Workload& work_;
  RepeatStop stop_;
  mutable BySize<CellReach> reach_;
};

/// Judges of one phase, and the one of a workload's phase. The workload must outlive them.
std::unique_ptr<WorkloadJudge> judge_of_forward_pass(Workload& work);
std::unique_ptr<WorkloadJudge> judge_of_decoding(Workload& work);
std::unique_ptr<WorkloadJudge> judge_of(Workload& work);

}  // namespace stormcell
