#include "core/measuring/first_batches.h"

#include <algorithm>
#include <vector>

#include "core/base/clock.h"

namespace stormcell {

std::vector<int64_t> batches_to_time(int64_t batches, size_t sizes) {
  constexpr int64_t kMost = 8;
  if (sizes > 1) return {std::min<int64_t>(1, batches - 1)};
  const int64_t count = std::min(batches, kMost);
  std::vector<int64_t> some;
  for (int64_t i = 0; i < count; ++i) some.push_back((2 * i + 1) * batches / (2 * count));
  return some;
}

FirstBatches time_first_batches(Workload& work, const Progress& progress) {
  constexpr double kLong = 5, kEnough = 0.5;  // seconds
  ExperimentState& s = work.state();
  std::vector<std::string> told_later;
  work.check_fits(work.graph(), {}, told_later);
  FirstBatches first;
  const double begin = seconds_now(), loaded = s.store->load_seconds();
  const auto plan = work.make_baseline(progress);
  first.load = s.store->load_seconds() - loaded;
  first.compile = std::max(0.0, seconds_now() - begin - first.load);
  const std::vector<int64_t> timed = batches_to_time(s.data->batch_count(), s.data->sizes().size());
  const auto seconds_of = [&](int64_t batch, int64_t done) {
    progress.report("timing the first batches", done, std::ssize(timed) + 1);
    const double before = seconds_now();
    s.run_batch(*plan, s.data->batch(batch, progress.cancel), {});
    return seconds_now() - before;
  };
  first.batch = seconds_of(0, 0);
  if (first.batch >= kLong) return first;
  double sum = 0;
  int64_t ran = 0;
  for (const int64_t batch : timed) {
    if (ran > 0 && sum + sum / static_cast<double>(ran) > kEnough) break;
    sum += seconds_of(batch, ++ran);
  }
  first.batch = sum / static_cast<double>(ran);
  return first;
}

}  // namespace stormcell
