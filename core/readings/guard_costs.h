// The price of guards in a run, as its recorded steps took: the tests, and the fallbacks where a guard missed.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "core/base/progress.h"

namespace stormcell {

/// Milliseconds are of recorded executions, recording included.
struct GuardCosts {
  int64_t hits = 0, misses = 0;    ///< of the whole run
  int64_t batches = 0;             ///< whose steps were read: at most 64 with a miss, and 64 without
  std::optional<double> tests_ms;  ///< of a batch, whether guards hold or not; nothing: no step of its own tests
  int64_t fallbacks = 0;           ///< that were timed
  /// of one of them, a mean: its steps, without the loading of weights that only it reads; nothing: none was timed
  std::optional<double> fallback_ms;
};
/// Nothing: no guard was tested, or no step was timed. `run` 0: the newest.
std::optional<GuardCosts> read_guard_costs(const std::string& file, int64_t run, const Progress& progress = {});

}  // namespace stormcell
