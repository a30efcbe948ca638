// One measuring in a process of its own: what it is asked for, what it answers, and who does it (measure_afresh() of experiment.h).
//
// The process opens the model anew, replays the configuration, and times the plan: beside the baseline for optimize, alone for run. It
// verifies nothing, probes nothing and writes no session: the run that asks has done that.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "core/experiment/pooled.h"
#include "core/summary/results.h"

namespace stormcell {

struct FreshRequest {
  bool beside_baseline = false;  ///< as optimize measures, on the batches that it measured; else as run does, on all
  std::string settings;          ///< of the run, as settings_json() writes them; of one phase
  std::string config;            ///< stormcell.config/1 of the plan
  double seconds = 0;            ///< for measuring; kLeastFreshChains at least
  int64_t number = 0;            ///< which of the processes: each begins with other batches
};
/// Few chains suffice: the interval depends on how many processes measure, not on how often one of them repeats.
inline constexpr int64_t kLeastFreshChains = 3;

struct FreshFigures {
  std::optional<Measuring> speedup;
  std::optional<Latency> baseline;  ///< around the plan
  Latency plan;
};

std::string to_json(const FreshRequest& request);
std::string to_json(const FreshFigures& figures);
/// Throw Error(bad_input) that begins with `where`.
FreshRequest parse_fresh_request(const std::string& text, const std::string& where);
FreshFigures parse_fresh_figures(const std::string& text, const std::string& where);

}  // namespace stormcell
