// Measures plans beside the baseline, batch by batch, so that disturbances of the machine hit both sides of a pair
// alike.
//
// One chain: baseline, plan, baseline, plan, ..., baseline, all on one batch: for n plans 2n + 1 executions, and one
// before them that warms up and is not kept. Every execution of a plan has one of the baseline directly before and one
// directly after it (two mirrored pairs), and follows another plan, as every other does. The order of the plans rotates
// from chain to chain and is reversed in every second one. So no plan is always at the same place of something
// periodic, and a trend cancels.
//
// In the data's order, where an execution depends on the batch before it (slots of a budget that all plans share), the
// unit that alternates is a stretch of batches. Each plan goes through it as through the data, behind some untimed
// batches before it, so that it finds its own leftovers; then the next plan does. Each batch of the stretch is a chain.
// A count checks that those batches were enough: the baseline goes through a stretch several times, and must fill as
// much of the slots each time.
#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "core/base/progress.h"
#include "core/bench/budget_meter.h"
#include "core/measuring/paired_speedup.h"
#include "core/summary/results.h"
#include "core/summary/withheld.h"

namespace stormcell {

/// Fewer rounds say little about an interval, and from fewer pairs no speed-up is stated.
inline constexpr int64_t kLeastRounds = kFewestPairs;

/// Milliseconds of a plan, and of the baseline before and after it.
struct Mirrored {
  double before = 0, plan = 0, after = 0;
};
/// One execution.
struct TimedExecution {
  double milliseconds = 0;
  TimedReads read = {};  ///< under a budget
  TimedExecution(double ms, const TimedReads& reads = {}) : milliseconds(ms), read(reads) {}
};
/// Milliseconds of one chain on one batch.
struct Chain {
  int64_t batch = 0;
  int32_t round = 0;
  std::vector<Mirrored> plans;                         ///< in the order of the plans
  std::vector<size_t> order;                           ///< of the plans, as they ran
  std::vector<double> baseline;                        ///< as they ran: one more than plans
  std::vector<TimedReads> plan_reads, baseline_reads;  ///< under a budget, in the order of `order` and of `baseline`
};

struct MirroredTimes {
  std::vector<Chain> chains;
  int64_t rounds = 0;   ///< rounds that the interval is drawn over
  int64_t batches = 0;  ///< different ones that were measured
  /// In the data's order: bytes of slots that the baseline filled, by the place of its execution in the chain.
  std::vector<int64_t> baseline_filled;

  /// The difference between how many bytes it filled in one place and in another, as a share of them: slots there held
  /// another plan's weights. 0 if nothing was filled.
  double unlike_fills() const;
  /// Speed-up of a plan over the baseline.
  Ratio speedup(size_t plan) const;
  /// Speed-up of plan `second` over plan `first`, from the chains with only one execution of the baseline between them.
  Ratio speedup_between(size_t first, size_t second) const;
  /// The batches that were measured, those that the plan gains least on first; without a plan, those that take the
  /// least time first.
  std::vector<int64_t> by_gain(size_t plan) const;
  std::vector<int64_t> by_time() const;
  /// Latency of a plan, and of the baseline around it, over the executions that the speed-up comes from.
  Latency plan_latency(size_t plan) const;
  Latency baseline_latency(size_t plan) const;
  /// Latency over all executions of the baseline.
  Latency baseline_latency() const;
  /// Weights read by the executions behind these latencies.
  TimedReads plan_reads(size_t plan) const;
  TimedReads baseline_reads(size_t plan) const;
  TimedReads baseline_reads() const;
};

/// The plans to run, and for how long. `execute` runs a plan (0: the baseline, from 1: the others) on a batch.
struct MirroredJob {
  size_t plans = 0;              ///< beside the baseline
  std::vector<int64_t> batches;  ///< at least one
  double seconds = 1;            ///< at least `least_chains` run, however long they take
  std::function<TimedExecution(size_t plan, int64_t batch)> execute;
  std::function<double()> clock;  ///< seconds; empty: the machine's
  std::function<void()> between;  ///< called before each chain; its time counts among `seconds`; empty: nothing
  // In the data's order:
  int64_t stretch = 0;  ///< so many of `batches` at a time, one after another; 0: batches are drawn, and warmed up
  /// batches before a stretch that a plan first goes through unless it comes from them; at most all
  int64_t lead = 1;
  std::function<void(size_t plan, int64_t batch)> run_untimed;  ///< of the lead; empty: as execute
  std::function<int64_t()> filled;  ///< bytes of slots that were filled so far; empty: not counted
  std::function<double(size_t plan)>
      finish;  ///< milliseconds that the end of a stretch takes, its last batch's; empty: none
  int64_t least_chains = kLeastRounds;
  /// different batches to be run, in drawn order, while `most_times` x `seconds` have room for them
  int64_t least_batches = 0;
  double most_times = 2;
  /// after that time no chain begins; the first one always runs
  double most_seconds = std::numeric_limits<double>::infinity();
};
/// Sets the stretch and the lead of a job whose batches take `milliseconds` each. After `settling` batches, the slots
/// hold what the plan itself left. The least rounds take about the job's seconds. A stretch has two batches if there
/// are two. A lead that would take more than twice that time is shortened.
void set_order(MirroredJob& job, double milliseconds, int64_t settling);
/// Goes through the batches, in an order drawn anew each time, until the time is up; the first way through runs up to
/// 64 of them twice. A round is one way through them. If there is no time for kLeastRounds of those, rounds are up to
/// 20 equal parts of what ran.
MirroredTimes measure_mirrored(const MirroredJob& job, const Progress& progress);

/// The 95 % quantile of the baseline's executions relative to their batch's median: 1 on a quiet machine, even if
/// batches differ, and if nothing was repeated.
double repeat_spread(const MirroredTimes& times);

}  // namespace stormcell
