#include "core/experiment/steady_measuring.h"

#include <fmt/format.h>

#include "core/base/clock.h"
#include "core/base/counted.h"
#include "core/experiment/experiment_figures.h"
#include "core/summary/stated_speedups.h"

namespace stormcell {

void SteadyMeasuring::run(const std::function<void()>& measure) {
  if (!limits_.allowed) return measure();
  const OtherLoad before = others_;
  for (bool repeats = false;; repeats = true) {
    const double begin = seconds_now();
    others_ = before;
    measure();
    state_.probe(1, progress_);
    probed_ = true;
    const double took = seconds_now() - begin;
    if (repeats) ++repetitions_, seconds_ += took;
    if (moved_ || !ceilings_moved_too_far(device_figures(state_))) return;
    if (!may_repeat(took)) break;
    state_.readings[0] = state_.readings[1];
  }
  moved_ = state_.readings;
}

bool SteadyMeasuring::may_repeat(double took) const {
  constexpr int64_t kMost = 2;
  constexpr double kRoom = 3;  // a limit must leave this many times what a repetition takes, for all that follows
  return repetitions_ < kMost && others_.share().value_or(0) < kMostOtherLoad && limits_.left() >= kRoom * took;
}

void SteadyMeasuring::end() {
  if (!probed_) state_.probe(1, progress_);
  probed_ = true;
  if (moved_) state_.readings = *moved_;
}

std::string SteadyMeasuring::repetitions_text() const {
  if (repetitions_ == 0) return {};
  return fmt::format("the machine's ceilings moved while it measured, so it measured again {}, which took {:.1f} s",
                     counted(repetitions_, "time"), seconds_);
}

}  // namespace stormcell
