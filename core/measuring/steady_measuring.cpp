#include "core/measuring/steady_measuring.h"

#include <fmt/format.h>

#include "core/base/clock.h"
#include "core/base/counted.h"
#include "core/bench/experiment_figures.h"
#include "core/summary/stated_speedups.h"

namespace stormcell {

ProbedMachine machine_of(ExperimentState& state, const Progress& progress) {
  using Time = ExperimentState::ProbeTime;
  return {state.ceilings.readings(),
          [&state, &progress](bool brief) { state.probe(brief ? Time::brief : Time::whole, progress); },
          [&state] { return device_figures(state); }, seconds_now};
}

void SteadyMeasuring::probe(bool brief) {
  constexpr double kShare = 1.0 / 6;  // of the time, at most
  const double begin = machine_.clock();
  machine_.probe(brief);
  const double end = machine_.clock();
  next_between_ = end + (end - begin) * (1 / kShare - 1);
}

void SteadyMeasuring::probe_between() {
  if (machine_.clock() >= next_between_) probe(true);
}

namespace {
constexpr int kMostReadings = 10;  // about a second and a half
}

/// Reads while `wanted`. A time limit leaves a twentieth of its rest for this, and at least one reading.
void SteadyMeasuring::read_while(const std::function<bool()>& wanted) {
  constexpr double kOfRest = 0.05;
  const double end = machine_.clock() + kOfRest * limits_.remaining();
  for (int i = 0; i < kMostReadings && (i == 0 || machine_.clock() < end) && wanted(); ++i) probe(true);
}

/// Reads until each ceiling was reached three times; on a quiet machine, that is three readings.
void SteadyMeasuring::settle() {
  read_while([this] { return !machine_.readings.agree(); });
  machine_.readings.begin();
  begins_ = false;
}

/// If the ceilings seem to have fallen, reads on: they have not moved if they are still reached.
void SteadyMeasuring::end_repetition() {
  probe(false);
  probed_ = true;
  read_while([this] {
    const DeviceFigures d = machine_.figures();
    return ceilings_moved_too_far(d) &&
           (d.peak_readings[1] < d.peak_readings[0] || d.read_readings[1] < d.read_readings[0]);
  });
}

void SteadyMeasuring::run(const std::function<void()>& measure) {
  if (!limits_.allowed) return measure();
  const OtherLoad before = others_;
  for (bool repeats = false;; repeats = true) {
    const double begin = machine_.clock();
    others_ = before;
    if (begins_) settle();
    measure();
    end_repetition();
    const double took = machine_.clock() - begin;
    if (repeats) ++repetitions_, seconds_ += took;
    if (moved_ || !ceilings_moved_too_far(machine_.figures())) return;
    if (!may_repeat(took)) break;
    machine_.readings.keep_last();
    begins_ = true;
  }
  moved_ = machine_.readings;
}

bool SteadyMeasuring::may_repeat(double took) const {
  constexpr int64_t kMost = 4;
  constexpr double kRoom = 3;  // a limit must leave this many times what a repetition takes, for all that follows
  return repetitions_ < kMost && others_.share().value_or(0) < kMostOtherLoad && limits_.remaining() >= kRoom * took;
}

void SteadyMeasuring::end() {
  if (!probed_) probe(false);
  probed_ = true;
  if (moved_) machine_.readings = *moved_;
}

void SteadyMeasuring::end_in(RunSummaryFigures& figures) {
  end();
  figures.other_load = others_.share();
  figures.device = machine_.figures();
}

std::string SteadyMeasuring::repetitions_text() const {
  if (repetitions_ == 0) return {};
  return fmt::format("the machine's ceilings moved while it measured, so it measured again {}, which took {:.1f} s",
                     counted(repetitions_, "time"), seconds_);
}

}  // namespace stormcell
