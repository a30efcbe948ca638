// Repeats a measurement while the ceilings of the machine before and after it differ too far for a speed-up to be stated
// (docs/decisions/060). The processors of a virtual machine may change places, for example, and memory is then read at another rate.
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

namespace stormcell {

/// When a measurement may be repeated.
struct RepetitionLimits {
  bool allowed = true;           ///< false: a short measurement, or a long command
  std::function<double()> left;  ///< seconds that a time limit leaves; infinity: no limit
};

class SteadyMeasuring {
 public:
  SteadyMeasuring(Experiment::State& state, RepetitionLimits limits, const Progress& progress)
      : state_(state), limits_(std::move(limits)), progress_(progress) {}

  /// Runs `measure` once, and at most twice more in all calls together. It is not repeated beside steady work of others, which would
  /// disturb the repetition too.
  void run(const std::function<void()>& measure);
  /// Adds what others did while a part of a measurement ran.
  void add_load(const ProcessorTimes& before, const ProcessorTimes& after) { others_.add(before, after), probed_ = false; }
  const OtherLoad& others() const { return others_; }
  /// Probes the machine after the last measurement, unless run() did. The readings of the state are then those that judge all measurements.
  void end();
  /// A sentence with the added time; empty: nothing was repeated.
  std::string repetitions_text() const;

 private:
  bool may_repeat(double took) const;

  Experiment::State& state_;
  RepetitionLimits limits_;
  const Progress& progress_;
  OtherLoad others_;
  bool probed_ = false;  // after the last part of a measurement
  int64_t repetitions_ = 0;
  double seconds_ = 0;                               // that repetitions took
  std::optional<std::array<DeviceProbe, 2>> moved_;  // the readings around a measurement that stayed unsteady
};

}  // namespace stormcell
