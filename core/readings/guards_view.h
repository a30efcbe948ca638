// Outcomes of the guards of a run: how often each held, and in which batches one missed.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/readings/session_view.h"

namespace stormcell {

/// A guard over the whole run. A miss runs the fallback, which computes what the plan had left out.
struct GuardLine {
  std::string name;
  int32_t router = -1;  ///< index into GuardsOfRun::routers of the one whose name the guard bears; -1: none
  int64_t hits = 0, misses = 0;
};
/// All guards in one batch.
struct GuardsOfBatch {
  int64_t batch = 0, hits = 0, misses = 0;
};
struct GuardsOfRun {
  std::vector<std::string> routers;
  std::vector<GuardLine> guards;       ///< in running order; none: the plan has none, or none was tested
  std::vector<GuardsOfBatch> batches;  ///< batches of the range in which a guard was tested
  int64_t hits() const;
  int64_t misses() const;
};
/// `run` 0: the newest. Reads a row a batch.
std::shared_ptr<const GuardsOfRun> read_guards(const std::string& file, int64_t run, BatchRange range,
                                               const Progress& progress = {});

}  // namespace stormcell
