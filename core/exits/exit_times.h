// Times of the baseline's batches if all items answer at one exit, and each item's share of them.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "core/bench/profile_split.h"
#include "core/bench/workload.h"
#include "core/exits/exit_chain.h"

namespace stormcell {

/// Milliseconds by exit, by number of the batch.
using ExitTimes = std::map<int64_t, std::vector<double>>;

/// Measures every batch of the data. Batches with as many items of one size are alike: of each kind some are measured
/// with given decisions, the exits in turn, and all get their medians. Held-out batches are measured only if no
/// profiled one is of their kind. `most_executions`: about how often the baseline runs; infinity: as often as steady
/// medians need. Each kind has at least one measured batch.
ExitTimes measure_exit_times(Workload& work, const ExitChain& chain, const ProfileSplit& split, double most_executions,
                             const Progress& progress);

/// [exits][items] Milliseconds of each item, such that their mean is the mean over the items' batches. Thus an item of
/// a batch with few items weighs as much as several of a full one. `batch`: by item.
std::vector<std::vector<double>> item_milliseconds(const ExitTimes& times, const std::vector<int64_t>& batch);

/// Milliseconds of a batch that runs freely: the median of several executions.
double median_milliseconds(ExperimentState& state, ReadyPlan& plan, const Batch& batch);

}  // namespace stormcell
