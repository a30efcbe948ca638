#include "core/exits/exit_times.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "core/exits/exit_record.h"
#include "core/summary/latency.h"

namespace stormcell {
namespace {

constexpr int kTimed =
    5;  ///< executions that a batch's time is the median of: one alone tells what else the machine did
constexpr size_t kBatches = 12;

using Kind = std::pair<PictureSize, int64_t>;  // items

Kind kind_of(const Dataset& data, int64_t batch) {
  const Batch outline = data.outline(batch);
  return {outline.picture, outline.size()};
}

/// Adds the times of one batch to those of its kind, by exit.
void time_exits(Workload& work, ReadyPlan& plan, const ExitChain& chain, int64_t number, const Progress& progress,
                std::vector<std::vector<double>>& times) {
  const Batch batch = work.state().data->batch(number);
  plan.use(batch.picture);
  for (int round = 0; round <= kTimed; ++round)  // the first of them is not counted
    for (size_t exit = 0; exit < times.size(); ++exit) {
      progress.cancel.check();
      const ReplayedDecisions there = all_at(plan, chain, exit, batch.size());
      ExecuteOptions execute;
      execute.replayed = &there;
      work.state().run_batch(plan, batch, execute);
      if (round > 0) times[exit].push_back(plan.result.milliseconds);
    }
}

}  // namespace

ExitTimes measure_exit_times(Workload& work, const ExitChain& chain, const ProfileSplit& split, double most_executions,
                             const Progress& progress) {
  const Dataset& data = *work.state().data;
  std::map<Kind, std::vector<int64_t>> profiled, alike;
  for (const int64_t b : split.profiled) profiled[kind_of(data, b)].push_back(b);
  alike = profiled;
  for (const int64_t b : split.measured)
    if (const Kind kind = kind_of(data, b); !profiled.contains(kind)) alike[kind].push_back(b);
  const auto plan = work.make_baseline(progress);
  const double of_batch = (kTimed + 1) * static_cast<double>(chain.costs.size());
  const auto most = static_cast<size_t>(std::clamp(most_executions / of_batch, 1.0, static_cast<double>(kBatches)));
  std::map<Kind, std::vector<double>> of_kind;
  for (const auto& [kind, batches] : alike) {
    progress.report("timing exits", std::ssize(of_kind), std::ssize(alike));
    std::vector<std::vector<double>> times(chain.costs.size());
    const size_t some = std::min(batches.size(), std::max<size_t>(1, most / alike.size()));
    for (size_t i = 0; i < some; ++i)
      time_exits(work, *plan, chain, batches[i * batches.size() / some], progress, times);
    for (const std::vector<double>& of_exit : times) of_kind[kind].push_back(median(of_exit));
  }
  ExitTimes all;
  for (int64_t b = 0; b < data.batch_count(); ++b)
    if (const auto at = of_kind.find(kind_of(data, b)); at != of_kind.end()) all[b] = at->second;
  return all;
}

std::vector<std::vector<double>> item_milliseconds(const ExitTimes& times, const std::vector<int64_t>& batch) {
  std::map<int64_t, int64_t> items;  // by batch
  for (const int64_t b : batch) ++items[b];
  std::vector<std::vector<double>> costs;
  for (const int64_t b : batch) {
    const std::vector<double>& of_exit = times.at(b);
    costs.resize(of_exit.size());
    const double share = static_cast<double>(batch.size()) / items.size() / items.at(b);
    for (size_t e = 0; e < of_exit.size(); ++e) costs[e].push_back(share * of_exit[e]);
  }
  return costs;
}

double median_milliseconds(ExperimentState& state, ReadyPlan& plan, const Batch& batch) {
  std::vector<double> times;
  for (int round = 0; round < kTimed; ++round) {
    state.run_batch(plan, batch, {});
    times.push_back(plan.result.milliseconds);
  }
  return median(times);
}

}  // namespace stormcell
