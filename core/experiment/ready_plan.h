// A plan that is ready to run.
#pragma once
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "core/experiment/record_plan.h"
#include "core/runtime/executor.h"

namespace stormcell {

/// A graph compiled for the device, with the figures of its runs.
struct ReadyPlan {
  std::string name;  ///< "baseline", "optimized", or a pass
  std::shared_ptr<const Graph> graph;
  std::shared_ptr<const Program> program;
  RecordPlan records;
  std::unique_ptr<Executor> executor;
  ExecutionResult result;                         ///< of the last batch
  std::vector<int64_t> guard_hits, guard_misses;  ///< by guard, since the plan was made or they were cleared

  void clear_guard_counts() {
    std::fill(guard_hits.begin(), guard_hits.end(), 0);
    std::fill(guard_misses.begin(), guard_misses.end(), 0);
  }
};

}  // namespace stormcell
