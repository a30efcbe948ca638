// The time of an optimisation as results tell it: what it was expected to take, and what a limit left out.
#pragma once
#include "core/experiment/first_batches.h"
#include "core/experiment/profile_split.h"
#include "core/experiment/time_plan.h"

namespace stormcell {

/// What a run may take, and which batches it runs for that.
struct TimeShare {
  TimePlan plan;
  FirstBatches first;
  ExpectedSeconds expected;  ///< of the whole command
  ProfileSplit split;        ///< of the batches that run
  bool is_told = true;       ///< what is expected is said when nothing is refused any more
  double limit = 0;          ///< of the whole command, of all phases together; 0: none
  bool is_long() const { return expected.middle() > kLongSeconds; }
  /// So many batches may each of `plans` run in a stage; no limit: any number.
  int64_t further_batches(Stage stage, size_t plans) const;
  /// Keeps of the split what the stages that go through it may take.
  void fit_batches();
};

/// --target-quality or --target-latency.
bool has_target(const ExperimentOptions& options);

/// One for each phase: its first batches are timed. `passes`: so many were chosen. Throws as time_first_batches() does.
std::vector<TimeShare> time_shares(Experiment::State& state, const OptimizeOptions& options, size_t passes, const Progress& progress);
/// To who listens.
void tell_expected(const TimeShare& time, const Progress& progress);

/// Limit and expectation, and how many of `batches` run, where not all do.
void set_time(const TimeShare& time, int64_t batches, RunSummaryFigures& figures);
/// What it took, and a warning with all that was left out.
void end_time(const TimeShare& time, RunSummaryFigures& figures);

}  // namespace stormcell
