#include "core/experiment/steady_measuring.h"

#include <fmt/format.h>

#include "core/base/clock.h"
#include "core/base/counted.h"
#include "core/experiment/experiment_figures.h"
#include "core/summary/stated_speedups.h"

namespace stormcell {

ProbedMachine machine_of(Experiment::State& state, const Progress& progress) {
  return {state.readings, [&state, &progress] { state.probe(1, progress); }, [&state] { return device_figures(state); }};
}

void SteadyMeasuring::run(const std::function<void()>& measure) {
  if (!limits_.allowed) return measure();
  const OtherLoad before = others_;
  for (bool repeats = false;; repeats = true) {
    const double begin = seconds_now();
    others_ = before;
    measure();
    machine_.probe();
    probed_ = true;
    const double took = seconds_now() - begin;
    if (repeats) ++repetitions_, seconds_ += took;
    if (moved_ || !ceilings_moved_too_far(machine_.figures())) return;
    if (!may_repeat(took)) break;
    machine_.readings[0] = machine_.readings[1];
  }
  moved_ = machine_.readings;
}

bool SteadyMeasuring::may_repeat(double took) const {
  constexpr int64_t kMost = 2;
  constexpr double kRoom = 3;  // a limit must leave this many times what a repetition takes, for all that follows
  return repetitions_ < kMost && others_.share().value_or(0) < kMostOtherLoad && limits_.left() >= kRoom * took;
}

void SteadyMeasuring::end() {
  if (!probed_) machine_.probe();
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
