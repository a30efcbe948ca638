#include "core/measuring/first_batches.h"

#include <algorithm>

#include "core/base/clock.h"

namespace stormcell {

FirstBatches time_first_batches(Workload& work, const Progress& progress) {
  constexpr double kLong = 5;  // seconds
  ExperimentState& s = work.state();
  std::vector<std::string> told_later;
  work.check_fits(work.graph(), {}, told_later);
  FirstBatches first;
  const double begin = seconds_now(), loaded = s.store->load_seconds();
  const auto plan = work.make_baseline(progress);
  first.load = s.store->load_seconds() - loaded;
  first.compile = std::max(0.0, seconds_now() - begin - first.load);
  for (int64_t b = 0; b < 2 && first.batch < kLong; ++b) {
    progress.report("timing the first batches", b, 2);
    const double before = seconds_now();
    s.run_batch(*plan, s.data->batch(std::min(b, s.data->batch_count() - 1), progress.cancel), {});
    first.batch = seconds_now() - before;
  }
  return first;
}

}  // namespace stormcell
