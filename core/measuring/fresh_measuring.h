// One measuring in its own process: the request, the answer, and the call that does it (measure_afresh.h).
//
// The process opens the model anew, replays the configuration and times the plan: beside the baseline for optimize,
// alone for run. It does not verify, probe or write a session: the run that asks has done so.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/measuring/pooled.h"
#include "core/summary/results.h"

namespace stormcell {

struct FreshRequest {
  bool beside_baseline = false;  ///< true: as in optimize; false: the plan alone, as in run
  std::string settings;          ///< the run's settings, as settings_json() writes them, for one phase
  std::string config;            ///< the plan's configuration, stormcell.config/1
  double seconds = 0;            ///< time for measuring; at least kLeastFreshChains chains run
  /// numbers of those to measure; at least one, drawn anew each time, under a budget in this order
  std::vector<int64_t> batches;
};
/// A run that measures for fewer seconds repeats nothing.
inline constexpr double kWorthRepeating = 1;
/// Fresh processes may take this part of the seconds asked for, opening included.
inline constexpr double kMostShare = 0.75;
/// Few chains are enough: the interval depends on the number of processes, not on how often one of them repeats.
inline constexpr int64_t kLeastFreshChains = 3;

struct FreshFigures {
  std::optional<Measurement> speedup;
  std::optional<Latency> baseline;  ///< around the plan
  Latency plan;
};

std::string to_json(const FreshRequest& request);
std::string to_json(const FreshFigures& figures);
/// Both throw Error(bad_input) that begins with `where`.
FreshRequest parse_fresh_request(const std::string& text, const std::string& where);
FreshFigures parse_fresh_figures(const std::string& text, const std::string& where);

}  // namespace stormcell
