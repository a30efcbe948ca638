// A plan that is ready to run.
#pragma once
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
  std::vector<int64_t> guard_hits, guard_misses;  ///< by guard, since the plan was made
};

}  // namespace stormcell
