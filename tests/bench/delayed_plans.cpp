// The program with slower plans: each measured execution of a plan that is not the baseline computes STORMCELL_DELAY_MS
// longer. Compared with the ordinary program, the difference has a known size (tests/bench/spread_between_runs.py).
#include <cstdlib>

#include "core/base/clock.h"
#include "core/measuring/measured_plans.h"

namespace stormcell {

double run_timed(ExperimentState& state, ReadyPlan& plan, const Batch& batch) {
  static const char* const said = std::getenv("STORMCELL_DELAY_MS");
  static const double delay = said ? std::atof(said) : 0;
  state.run_batch(plan, batch, {});
  if (plan.name() == "baseline" || delay <= 0) return plan.result.milliseconds;
  const double begin = seconds_now();
  while ((seconds_now() - begin) * 1e3 < delay) continue;
  return plan.result.milliseconds + delay;
}

}  // namespace stormcell
