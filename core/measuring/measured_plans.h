// Measures plans, and writes their results in the same way for run and optimize.
//
// This room times plans: mirrored rounds, paired speed-ups, intervals over several processes, ceilings measured along
// with plans, passes that are left out, and plans of the time for all this.
#pragma once
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "core/bench/workload.h"
#include "core/machine/other_load.h"
#include "core/measuring/kept_batch.h"
#include "core/measuring/mirrored.h"

namespace stormcell {

/// Runs a plan over all batches of the data and shows each to `then`. `what` it is doing, for the progress.
void run_over_data(ExperimentState& state, ReadyPlan& plan, const char* what, const ExecuteOptions& options,
                   const Progress& progress, const std::function<void(const Batch&)>& then);

/// The same over these batches; stops when `then` returns false.
void run_over_batches(ExperimentState& state, ReadyPlan& plan, const char* what, const ExecuteOptions& options,
                      const Progress& progress, const std::vector<int64_t>& batches,
                      const std::function<bool(const Batch&)>& then);

/// Runs a plan on a batch that is measured; returns milliseconds. It is the only function of its file, because one
/// program of the tests is linked with another run_timed(), which delays plans.
double run_timed(ExperimentState& state, ReadyPlan& plan, const Batch& batch);

/// Plans side by side, the first as the baseline. A batch is read once for all of them, and a size of picture compiled
/// for all of them before one is timed: a plan that is compiled between two executions would find cold caches, the
/// other not.
class MeasuredPlans {
 public:
  MeasuredPlans(ExperimentState& state, std::vector<ReadyPlan*> plans, const Progress& progress)
      : state_(state), plans_(std::move(plans)), progress_(progress), kept_(*state.data) {}
  MeasuredPlans(const MeasuredPlans&) = delete;
  MeasuredPlans& operator=(const MeasuredPlans&) = delete;

  /// The job for these batches and seconds; this object must outlive it.
  MirroredJob job(std::vector<int64_t> batches, double seconds);
  /// Runs every plan on one batch, so that memory touched for the first time is not measured.
  void warm_up(int64_t batch);

 private:
  const Batch& batch(int64_t number);
  TimedExecution execute(size_t plan, int64_t number);

  ExperimentState& state_;
  std::vector<ReadyPlan*> plans_;
  const Progress& progress_;
  KeptBatch kept_;
};

/// True if times of plans side by side show which one is faster. Under a budget they do if the baseline had as much to
/// read in each place of a chain. `why_not_stated`: if they do not, a sentence about what is not stated.
bool tells_speed(const MirroredTimes& times);
std::string why_not_stated(const std::string& what, const MirroredTimes& times);

/// The way in which plans were measured side by side.
struct Measured {
  std::vector<int64_t> batches;  ///< batches that were executed, as often as they were
  int64_t rounds = 0;            ///< as MirroredTimes has them
  double spread = 1;             ///< as repeat_spread()
  OtherLoad others;              ///< at work meanwhile
  /// batches that a plan may run again: for times by operator, then for its physical limit
  int64_t further = INT64_MAX;
};
Measured measured(const MirroredTimes& times);

/// One of them, and the place for its figures.
struct MeasuredPlan {
  ReadyPlan& plan;
  Latency latency;
  TimedReads read;  ///< reads of the executions behind the latency
  std::optional<PlanFigures>& figures;
  std::vector<OperatorTime>& operators;
};
/// Sets the figures of the plans, of the device, of limits and of times by operator. `probed`: the device was probed
/// after measuring too; a warning then says whether the machine was busy.
void set_figures(const Workload& work, const Measured& measured, const std::vector<MeasuredPlan>& plans, bool probed,
                 RunSummaryFigures& figures, const Progress& progress);

}  // namespace stormcell
