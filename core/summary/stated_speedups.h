// Decides which measured speed-ups may be stated. The rule is applied when a run ends, and again when a run of an
// earlier version is read. Every view, list, report and JSON therefore gets either a speed-up or the reason why there
// is none.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "core/summary/results.h"

namespace stormcell {

/// The conditions under which a speed-up was measured. An empty one is not known, and nothing is withheld because of
/// it.
struct SpeedupConditions {
  std::optional<double> ceilings_moved;  ///< larger / smaller of the two readings - 1, of the ceiling that moved most
  std::optional<double> other_load;      ///< part of the processors that other processes used
  std::optional<int64_t> pairs;          ///< executions of the plan, each beside the baseline
  /// different batches that were measured; number that could have been measured
  std::optional<int64_t> batches, held_out;
  std::optional<bool> gains_alike;  ///< all batches gain alike; false also if that is not known
};
/// The first reason that applies, in the order of WithheldReason; nothing: the speed-up may be stated.
std::optional<SpeedupWithheld> why_withheld(const SpeedupConditions& conditions);

/// True if the device's ceilings before and after measuring differ by more than a stated speed-up allows.
bool ceilings_moved_too_far(const DeviceFigures& device);

/// The conditions of a run's speed-up.
SpeedupConditions speedup_conditions(const RunSummaryFigures& figures);

/// Removes speed-ups that may not be stated and sets the reason: those of the run, its passes, its thresholds of exits
/// and its dense plan. Decoding is a run of its own and is not changed.
void withhold_speedups(RunSummaryFigures& figures);

/// The reason why a speed-up of the run is not stated: the run's own, else that of the first pass with one.
std::optional<SpeedupWithheld> first_withheld(const RunSummaryFigures& figures);

/// The remark beside times of two plans whose ratio is not stated, so that nobody divides them: "no ratio: not measured
/// well enough". Empty: the ratio is stated, or there are no two plans.
std::string no_ratio_text(const RunSummaryFigures& figures);

/// The cause that ended the measuring: the time limit, if the run left something out because of it.
MeasuringEnd measuring_end(const RunSummaryFigures& figures);

/// The conditions of a stated speed-up that the run did not store: "not recorded: the load of other processes"; empty:
/// none.
std::string unknown_conditions_text(const RunSummaryFigures& figures);

/// The figures as they may be shown: without speed-ups that were not verified or not measured well enough.
RunSummaryFigures with_stated_speedups(RunSummaryFigures figures);

}  // namespace stormcell
