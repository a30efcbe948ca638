// Measuring a run again in fresh processes, and its figures with the spread between them (docs/decisions/058).
//
// A run of a second or more gives five eighths of its measuring to its own process, where all plans are compared, and the rest to four
// fresh ones, each of which measures what is stated. They cost their opening besides. Where that takes too long there are fewer, or none,
// and the run says so.
#pragma once
#include <limits>
#include <string>
#include <vector>

#include "core/experiment/fresh_measuring.h"
#include "core/experiment/state.h"

namespace stormcell {

struct MeasuringTime {
  double seconds = 0;                                             ///< that were asked for
  std::string program;                                            ///< OptimizeOptions::measuring_program
  double took = 0;                                                ///< that this process measured, really
  double execution_ms = 0;                                        ///< of one batch, about
  double most_seconds = std::numeric_limits<double>::infinity();  ///< that fresh processes may take: what a limit of time leaves
};
/// The part of `seconds` that this process measures itself. The rest is for the fresh processes.
double own_seconds(const Experiment::State& state, double seconds);

/// What this process and the fresh ones measured.
class Measurings {
 public:
  Measurings() = default;
  explicit Measurings(FreshFigures own) : list_{std::move(own)} {}
  /// Starts fresh processes, one after the other. If one fails and too few have measured, its error is kept as the reason.
  void ask(const Experiment::State& state, const MeasuringTime& time, FreshRequest request, const Progress& progress);

  /// Nothing: too few measured.
  std::optional<Pooled> speedup() const;
  /// One latency of all processes, each counted alike; with the interval of its mean where enough of them measured.
  Latency baseline_latency() const;
  Latency plan_latency() const;
  /// How much the processes differ in what is stated: the speed-up, else the latency of the plan. Nothing: not known.
  std::optional<Pooled> spread() const;
  /// Writes into the figures what each process measured, how much they differ and what it took, or why only one process measured.
  void tell(RunSummaryFigures& figures) const;

 private:
  std::vector<FreshFigures> list_;  // this process first
  double seconds_ = 0;              // that the others took
  bool in_processes_ = true;
  std::string why_once_;
};

/// The intervals of figures that this process measured alone, widened by how much the processes differ: gains of passes that were not left
/// out, of a dense plan, of a target's thresholds.
void widen_others(const Pooled& spread, RunSummaryFigures& figures);

}  // namespace stormcell
