// What a batch of the baseline takes where all its items answer at one exit; and what each item's share of that is.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "core/bench/profile_split.h"
#include "core/bench/workload.h"
#include "core/exits/exit_chain.h"

namespace stormcell {

/// By number of the batch: milliseconds by exit.
using ExitTimes = std::map<int64_t, std::vector<double>>;

/// Of every batch of the data. Batches of as many items of one size are alike: of each kind some are measured with
/// decisions given, the exits in turn, and all have their medians. Batches that were held out are measured only where
/// no profiled one is of their kind. `most_executions`: about how often the baseline runs; infinity: as often as steady
/// medians need. Each kind has at least one batch.
ExitTimes measure_exit_times(Workload& work, const ExitChain& chain, const ProfileSplit& split, double most_executions,
                             const Progress& progress);

/// [exits][items] Milliseconds by which the mean over the items is the mean over their batches, each of which is taken
/// as the mean of its items: an item of a batch of few weighs as much as several of a full one. `batch`: of each item.
std::vector<std::vector<double>> item_milliseconds(const ExitTimes& times, const std::vector<int64_t>& batch);

/// Of one batch as it runs freely: the median of several executions.
double median_milliseconds(ExperimentState& state, ReadyPlan& plan, const Batch& batch);

}  // namespace stormcell
