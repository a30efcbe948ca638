// Plans side by side on the batches that were not profiled.
#pragma once
#include <cstdint>

#include "core/bench/profile_split.h"
#include "core/bench/state.h"
#include "core/measuring/measured_plans.h"
#include "core/measuring/steady_measuring.h"
#include "core/measuring/time_plan.h"

namespace stormcell {

/// Measures plans in mirrored rounds, for as long as is asked and a time limit allows. All references must outlive it.
class HeldOutRounds {
 public:
  struct Asked {
    double seconds = 0;
    int64_t chains = 0;       ///< the least number of rounds
    double most_seconds = 0;  ///< the end in any case
    double most_times = 2;    ///< the most seconds for the least number of rounds, as a multiple of `seconds`
  };

  /// `probes`: the machine is probed between executions.
  HeldOutRounds(ExperimentState& state, const ProfileSplit& split, const TimePlan& plan, bool probes,
                SteadyMeasuring& steady, const Progress& progress)
      : s_(state), split_(split), plan_(plan), probes_(probes), steady_(steady), progress_(progress) {}

  /// Warms the plans up and measures them. `batch_ms`: milliseconds of a batch, as it was profiled.
  MirroredTimes run(MeasuredPlans& plans, double batch_ms, const Asked& asked);

  /// All seconds of measuring so far.
  double seconds() const { return seconds_; }
  /// Forgets the rounds after `seconds`: a repetition replaces them.
  void forget_after(double seconds) { seconds_ = seconds; }
  /// True if the time limit left less than was asked for.
  bool is_cut() const { return is_cut_; }

 private:
  ExperimentState& s_;
  const ProfileSplit& split_;
  const TimePlan& plan_;
  const bool probes_;
  SteadyMeasuring& steady_;
  const Progress& progress_;
  double seconds_ = 0;
  bool is_cut_ = false;
};

}  // namespace stormcell
