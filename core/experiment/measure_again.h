// Measures a run again in fresh processes; its figures then have the spread between them (docs/decisions/058).
//
// A run that measures for a second or more gives five eighths of that time to its own process, where all plans are
// compared. The rest goes to eight fresh processes, each of which measures what is stated. Opening the model in them
// takes extra time. If it takes too long, there are fewer processes, or none, and the run says so.
//
// A fresh process has time for a few batches only, and batches may gain unlike. So each gets a sample of the batches
// that the run itself measured, spread evenly over the order of their gains: what differs between processes is then not
// which batches they had.
#pragma once
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "core/bench/state.h"
#include "core/measuring/fresh_measuring.h"

namespace stormcell {

struct MeasuringTime {
  double seconds = 0;       ///< seconds asked for
  std::string program;      ///< OptimizeOptions::measuring_program
  double took = 0;          ///< seconds that this process really measured
  double execution_ms = 0;  ///< about the time of one batch
  /// seconds that a time limit leaves for fresh processes
  double most_seconds = std::numeric_limits<double>::infinity();
  std::function<void()> between = {};  ///< called before each of them; empty: nothing
  std::vector<int64_t> batches = {};   ///< batches that this process measured, in the order of the stated gains
};
/// The part of `seconds` that this process measures itself. The rest is for the fresh processes.
double own_seconds(const ExperimentState& state, double seconds);

/// `count` of the batches, at equal distances in their order. Each process begins at another place of the first
/// distance.
std::vector<int64_t> even_sample(const std::vector<int64_t>& ordered, int64_t count, int64_t process);

/// The measurements of this process and of the fresh ones.
class MeasurementRuns {
 public:
  MeasurementRuns() = default;
  explicit MeasurementRuns(FreshFigures own) : list_{std::move(own)} {}
  /// Starts fresh processes one after another. If one fails and too few have measured, its error is kept as the reason.
  void ask(const ExperimentState& state, const MeasuringTime& time, FreshRequest request, const Progress& progress);

  /// Starts none, for a reason in words.
  void leave_out(std::string why) { why_once_ = std::move(why); }
  /// Empty: too few processes measured.
  std::optional<Pooled> speedup() const;
  /// The latency over all processes, each with equal weight; with the interval of its mean if enough of them measured.
  Latency baseline_latency() const;
  Latency plan_latency() const;
  /// Variation of the stated figure between the processes: of the speed-up, else of the plan's latency. Empty: not
  /// known.
  std::optional<Pooled> spread() const;
  /// Writes into the figures the results of each process, their variation and the time it took, or why only one process
  /// measured.
  void write_to(RunSummaryFigures& figures) const;

 private:
  std::vector<FreshFigures> list_;  // this process is the first
  double seconds_ = 0;              // time that the others took
  bool in_processes_ = true;
  std::string why_once_;
};

/// Widens the intervals of figures that only this process measured by the variation between processes: gains of kept
/// passes, of a dense plan, of a target's thresholds.
void widen_others(const Pooled& spread, RunSummaryFigures& figures);

}  // namespace stormcell
