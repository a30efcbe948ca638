// Judges the machine while plans are measured. A measurement is repeated while the ceilings before and after it differ too far for a
// speed-up to be stated (docs/decisions/060): the processors of a virtual machine may change places, and memory is then read at another
// rate.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "core/experiment/state.h"
#include "core/machine/other_load.h"
#include "core/runtime/device_probe.h"
#include "core/summary/results.h"

namespace stormcell {

/// A machine whose ceilings are read before and after measuring; a test gives one that moves as the test says.
struct ProbedMachine {
  std::array<DeviceProbe, 2>& readings;
  std::function<void()> probe;             ///< sets the second reading
  std::function<DeviceFigures()> figures;  ///< with both readings
};
/// The device of an open experiment, which must outlive the result, as must `progress`.
ProbedMachine machine_of(Experiment::State& state, const Progress& progress);

/// When a measurement may be repeated.
struct RepetitionLimits {
  bool allowed = false;          ///< false for a short measurement and for a long command
  std::function<double()> left;  ///< seconds that a time limit leaves; infinity: no limit
};

class SteadyMeasuring {
 public:
  SteadyMeasuring(ProbedMachine machine, RepetitionLimits limits) : machine_(std::move(machine)), limits_(std::move(limits)) {}

  /// Runs `measure` once, and at most twice more in all calls together. It is not repeated beside steady work of others, which would
  /// disturb the repetition too.
  void run(const std::function<void()>& measure);
  /// Adds the load of other processes during one part of a measurement.
  void add_load(const ProcessorTimes& before, const ProcessorTimes& after) { others_.add(before, after), probed_ = false; }
  const OtherLoad& others() const { return others_; }
  /// Probes the machine after the last measurement, unless run() did. The readings are then those that judge all measurements.
  void end();
  /// Ends, and writes the device and the load of others into the figures.
  void end_in(RunSummaryFigures& figures);
  /// A sentence with the added time; empty: nothing was repeated.
  std::string repetitions_text() const;

 private:
  bool may_repeat(double took) const;

  ProbedMachine machine_;
  RepetitionLimits limits_;
  OtherLoad others_;
  bool probed_ = false;  // since the last part of a measurement
  int64_t repetitions_ = 0;
  double seconds_ = 0;                               // that repetitions took
  std::optional<std::array<DeviceProbe, 2>> moved_;  // the readings around a measurement that stayed unsteady
};

}  // namespace stormcell
