// The cost of recording: the plan with recording beside the plan without, over the same batches.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/bench/recording.h"
#include "core/measuring/mirrored.h"

namespace stormcell {

struct RecordingCost {
  std::vector<double> plain_ms;  ///< every batch that ran without recording
  TimedReads plain_read;         ///< under a budget, what these executions read
  std::vector<int64_t> batches;  ///< batches that were run
  int64_t rounds = 0;
  double spread = 1;  ///< as repeat_spread()
  /// time with recording / time without; empty if no session could be written, or not_stated
  std::optional<Ratio> overhead;
  double work = 0;         ///< time that recording itself took, as a share of the time without
  std::string not_stated;  ///< why times under a budget give no overhead; empty: they do
};

/// Whole ways through some of the batches are one execution each: pending writes count for the way that recorded them.
/// It takes as many batches, evenly spread, as fit into `seconds`, if all take `all_ms` once. Under a budget they are
/// in the data's order, batch by batch.
RecordingCost measure_recording(ExperimentState& state, ReadyPlan& plan, const RunAbout& about, double all_ms,
                                double seconds, const Progress& progress);

/// At most `most` of `count` numbers, evenly spread, at least one.
std::vector<int64_t> evenly_spread(int64_t count, double most);

}  // namespace stormcell
