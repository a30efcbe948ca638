// The time of an optimisation in results: the expected time, and the work that a limit left out.
#pragma once
#include "core/bench/profile_split.h"
#include "core/bench/state.h"
#include "core/experiment/run_options.h"
#include "core/measuring/first_batches.h"
#include "core/measuring/stage_times.h"
#include "core/measuring/time_plan.h"

namespace stormcell {

/// The time that a run may take, and the batches that it runs in that time.
struct TimeShare {
  TimePlan plan;
  FirstBatches first;
  ExpectedSeconds expected;  ///< for the whole command
  ProfileSplit split;        ///< split of the batches that run
  bool is_told = true;       ///< true: the expected time is printed, once nothing can be refused any more
  double limit = 0;          ///< seconds for the whole command, all phases together; 0: none
  double least = 0;          ///< seconds that the whole command takes if all is left out that may be
  bool is_long() const { return expected.middle() > kLongSeconds; }
  /// The number of batches that each of `plans` may run in a stage; without a limit any number.
  int64_t further_batches(Stage stage, size_t plans) const;
  /// Reduces the split to the batches for which its stages have time.
  void fit_batches();
};

/// --target-quality or --target-latency.
bool has_target(const ExperimentOptions& options);

/// The share of time for each phase, after timing its first batches. `passes`: the number of passes chosen. Throws as
/// time_first_batches() does.
std::vector<TimeShare> time_shares(ExperimentState& state, const OptimizeOptions& options, size_t passes,
                                   const Progress& progress);
/// Tells the listener of `progress` the expected time, or that the limit is shorter than the work that is never left
/// out.
void tell_expected(const TimeShare& time, const Progress& progress);

/// Sets the limit, the expected time and, if not all of `batches` run, how many do.
void set_time(const TimeShare& time, int64_t batches, RunSummaryFigures& figures);
/// Sets the time that the run took, and warnings that name everything left out and what overran the limit.
void end_time(const TimeShare& time, const StageTimes& stages, RunSummaryFigures& figures);

}  // namespace stormcell
