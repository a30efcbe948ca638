// Judges the machine while plans are measured. Its ceilings are probed again and again between executions. A
// measurement is repeated while the best readings of its first and its last half differ too far for a speed-up to be
// stated (docs/decisions/060): the processors of a virtual machine may change places, and memory is then read at
// another rate.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "core/bench/ceiling_readings.h"
#include "core/bench/state.h"
#include "core/machine/other_load.h"
#include "core/summary/results.h"

namespace stormcell {

/// A machine whose ceilings are read while plans are measured; a test gives one that moves as the test says.
struct ProbedMachine {
  CeilingReadings& readings;               ///< at least one, from before measuring
  std::function<void(bool brief)> probe;   ///< adds a reading; `brief`: one between two executions
  std::function<DeviceFigures()> figures;  ///< of the readings
  std::function<double()> clock;           ///< seconds
};
/// The device of an open experiment, which must outlive the result, as must `progress`.
ProbedMachine machine_of(ExperimentState& state, const Progress& progress);

/// When a measurement may be repeated.
struct RepetitionLimits {
  bool allowed = false;               ///< false for a short measurement and for a long command
  std::function<double()> remaining;  ///< seconds that a time limit leaves; infinity: no limit
};

class SteadyMeasuring {
 public:
  SteadyMeasuring(ProbedMachine machine, RepetitionLimits limits)
      : machine_(std::move(machine)), limits_(std::move(limits)) {}

  /// Runs `measure` once, and at most four times more in all calls together. It is not repeated beside steady work of
  /// others, which would disturb the repetition too.
  void run(const std::function<void()>& measure);
  /// Probes the machine between two executions, if the last time is long enough ago: probing takes a sixth of the time
  /// at most.
  void probe_between();
  /// Adds the load of other processes during one part of a measurement.
  void add_load(const ProcessorTimes& before, const ProcessorTimes& after) {
    others_.add(before, after), probed_ = false;
  }
  const OtherLoad& others() const { return others_; }
  /// Probes the machine after the last measurement, unless run() did. The readings are then those that judge all
  /// measurements.
  void end();
  /// Ends, and writes the device and the load of others into the figures.
  void end_in(RunSummaryFigures& figures);
  /// A sentence with the added time; empty: nothing was repeated.
  std::string repetitions_text() const;

 private:
  bool may_repeat(double took) const;
  void probe(bool brief);
  void read_while(const std::function<bool()>& wanted);
  void settle();
  void end_repetition();

  ProbedMachine machine_;
  RepetitionLimits limits_;
  OtherLoad others_;
  bool begins_ = true;       // no measurement ran since the readings before it
  bool probed_ = false;      // since the last part of a measurement
  double next_between_ = 0;  // seconds of the clock
  int64_t repetitions_ = 0;
  double seconds_ = 0;                    // that repetitions took
  std::optional<CeilingReadings> moved_;  // the readings of a measurement that stayed unsteady
};

}  // namespace stormcell
