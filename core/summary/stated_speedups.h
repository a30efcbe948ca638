// Decides which measured speed-ups may be stated. The rule is applied when a run ends, and again when a run of an earlier version is read.
// Every view, list, report and JSON therefore gets either a speed-up or the reason why there is none.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "core/summary/results.h"

namespace stormcell {

/// More than this between the ceilings before and after measuring, as a share of the lower one.
inline constexpr double kMostCeilingsMove = 0.15;
/// This part of the processors, or more, that others kept busy.
inline constexpr double kMostOtherLoad = 0.25;
/// Fewer executions of a plan beside the baseline say too little about an interval.
inline constexpr int64_t kFewestPairs = 8;
/// The fewest different batches, a third of those held out, where the gain differs from batch to batch.
constexpr int64_t fewest_batches(int64_t held_out) { return (held_out + 2) / 3; }

/// How a speed-up was measured. Empty: the run does not say it, and nothing is withheld for that.
struct SpeedupConditions {
  std::optional<double> ceilings_moved;      ///< larger / smaller of the two readings - 1, of the ceiling that moved most
  std::optional<double> other_load;          ///< part of the processors that others kept busy
  std::optional<int64_t> pairs;              ///< executions of the plan, each beside the baseline
  std::optional<int64_t> batches, held_out;  ///< different ones that were measured; all that could have been
  std::optional<bool> gains_alike;           ///< all batches gain alike; false too where that is not known of them
};
/// The first that holds, in the order of WithheldReason; nothing: it may be stated.
std::optional<SpeedupWithheld> why_withheld(const SpeedupConditions& conditions);

/// As a run tells them of its speed-up.
SpeedupConditions speedup_conditions(const RunSummaryFigures& figures);

/// Takes out what may not be stated and says why: the run's speed-up, those of its passes, of its thresholds of exits and of its dense
/// plan. Not of its decoding, which is a run of its own.
void withhold_speedups(RunSummaryFigures& figures);

/// Why a speed-up of the run is not stated: its own, or else the first of its passes' that was withheld.
std::optional<SpeedupWithheld> first_withheld(const RunSummaryFigures& figures);

/// Names the conditions of a stated speed-up that the run did not store: "not recorded: the load of other processes"; empty: none.
std::string unknown_conditions_text(const RunSummaryFigures& figures);

/// The figures as they may be shown: no speed-up of what was not verified, none that was not measured well enough.
RunSummaryFigures with_stated_speedups(RunSummaryFigures figures);

}  // namespace stormcell
