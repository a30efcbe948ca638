#include "core/experiment/held_out_rounds.h"

#include <algorithm>

#include "core/base/clock.h"
#include "core/machine/other_load.h"

namespace stormcell {

MirroredTimes HeldOutRounds::run(MeasuredPlans& plans, double batch_ms, const Asked& asked) {
  MirroredJob job = plans.job(split_.measured, std::min(asked.seconds, asked.most_seconds));
  job.least_chains = asked.chains, job.most_seconds = asked.most_seconds, job.most_times = asked.most_times;
  if (probes_) job.between = [this] { steady_.probe_between(); };
  // Fewer batches cannot state a speed-up if the gain differs from batch to batch.
  if (asked.chains == kLeastRounds) job.least_batches = fewest_batches(split_.held_out);
  is_cut_ |= plan_.limited() && asked.most_seconds < asked.seconds;
  // Under a budget, the batch before decides what an execution has to read, and all plans share the slots.
  if (s_.store->budget() > 0) set_order(job, batch_ms, s_.budget.settling_batches());
  plans.warm_up(split_.measured.front());
  const ProcessorTimes before = processor_times();
  const double begin = seconds_now();
  MirroredTimes times = measure_mirrored(job, progress_);
  seconds_ += seconds_now() - begin;
  steady_.add_load(before, processor_times());
  return times;
}

}  // namespace stormcell
