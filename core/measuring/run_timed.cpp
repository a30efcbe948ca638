// The only function of this file: a program that defines run_timed() itself is linked without it.
#include "core/measuring/measured_plans.h"

namespace stormcell {

double run_timed(ExperimentState& state, ReadyPlan& plan, const Batch& batch) {
  state.run_batch(plan, batch, {});
  return plan.result.milliseconds;
}

}  // namespace stormcell
