#include "simulator/step_rate.h"

namespace stormcell {

void state_rate(SimulateFigures& f) {
  f.tokens_per_s.reset();
  const bool calibrated = f.trust && f.trust->share > 0;
  if (!f.tokens_per_step || *f.tokens_per_step <= 0 || f.mean_ms <= 0) {
    f.why_no_tokens_per_s = "the recording does not say how many tokens a step has";
  } else if (!f.rest_ms && f.calibration && !calibrated) {
    f.why_no_tokens_per_s =
        "attention, norms and sampling are not in the step, and no measured call of the calibration is about it";
  } else if (!f.rest_ms && !calibrated) {
    f.why_no_tokens_per_s = "attention, norms and sampling are not in the step, and its rates are those of data sheets";
  } else {
    f.why_no_tokens_per_s.clear();
    f.tokens_per_s = *f.tokens_per_step / f.mean_ms * 1e3;
  }
}

}  // namespace stormcell
