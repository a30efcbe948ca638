#include "core/experiment/recording_cost.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/summary/latency.h"

namespace stormcell {
namespace {

double milliseconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

std::vector<int64_t> evenly_spread(int64_t count, double most) {
  const auto stride = static_cast<int64_t>(std::ceil(static_cast<double>(count) / std::clamp(most, 1.0, static_cast<double>(count))));
  std::vector<int64_t> list;
  for (int64_t i = stride / 2; i < count; i += stride) list.push_back(i);
  return list;
}

RecordingCost measure_recording(Experiment::State& s, ReadyPlan& plan, SessionRun& session, double all_ms, double seconds,
                                const Progress& progress) {
  RecordingCost cost;
  const int64_t count = s.data->batch_count();
  constexpr int64_t kPassesAChain = 4;  // one that warms up, plain, recorded, plain
  const double pass_ms = seconds * 1e3 / static_cast<double>(kPassesAChain * kLeastRounds);
  cost.batches = evenly_spread(count, pass_ms / std::max(all_ms / static_cast<double>(count), 1e-6));
  std::vector<Batch> batches;
  for (const int64_t b : cost.batches) batches.push_back(s.data->batch(b));
  bool written = true;
  MirroredJob job{1, {0}, seconds, {}, {}};
  job.execute = [&](size_t recorded, int64_t) {
    double total = 0;
    for (const Batch& batch : batches) {
      progress.cancel.check();
      plan.use(batch.picture);  // compiling it is no cost of recording
      ExecuteOptions execute;
      execute.record = execute.events = recorded != 0;
      const auto begin = std::chrono::steady_clock::now();
      s.run_batch(plan, batch, execute);
      if (recorded) session.measure_recording(batch);
      total += milliseconds_since(begin);
      if (!recorded) cost.plain_ms.push_back(plan.result.milliseconds);
    }
    const auto begin = std::chrono::steady_clock::now();
    if (recorded) written = session.finish_measured() && written;
    return total + milliseconds_since(begin);
  };
  const MirroredTimes times = measure_mirrored(job, progress);
  cost.rounds = times.rounds;
  cost.spread = repeat_spread(times);
  if (!written) return cost;
  const Ratio speed = times.speedup(0);
  cost.overhead = Ratio{1 / speed.value, {1 / speed.ci95[1], 1 / speed.ci95[0]}};
  cost.work = session.measured_work() * static_cast<double>(batches.size()) / std::max(times.baseline_latency().median, 1e-6);
  return cost;
}

}  // namespace stormcell
