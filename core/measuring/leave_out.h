// Leaves out passes that do not pay: one that makes the plan slower and saves no memory, or takes memory without a
// gain.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/measuring/paired_speedup.h"
#include "core/summary/results.h"

namespace stormcell {

struct PlanBytes {
  int64_t weights = 0, activations = 0;  ///< most bytes held at once
};

/// Contribution of one pass: the plan with it compared with the plan without it.
struct Contribution {
  std::string pass;
  Ratio speed;
  PlanBytes without, with;
  /// the difference between one of the plans and the baseline, if it makes the speed meaningless; empty: none
  std::string wrong = {};
};

/// Bytes that a plan needs less than another. 0 if neither weights nor activations shrink by a hundredth: the planner's
/// choices vary by that much.
int64_t saved_bytes(const PlanBytes& without, const PlanBytes& with);

struct LeftOut {
  std::string pass, reason;
  std::string reason_without_speeds = {};  ///< as PassReport has it
};
/// The passes to leave out. A pass that saves no memory goes if its interval lies below 1. If it needs more memory, it
/// also goes if its interval is not above 1 and excludes a gain of a fiftieth. If no pass goes, but all together are
/// slower than the baseline (`total`) and save nothing, the one that contributes least goes. Empty: the plan stays.
/// Speeds of plans with other results than the baseline's, or texts of another length, do not count: such contributions
/// are ignored, and with such a total nothing is left out.
std::vector<LeftOut> passes_to_leave_out(const std::vector<Contribution>& contributions, const Contribution& total);

/// The passes whose guards never held in what was measured: `passes` with the counts of the measured plan. These data
/// always need what such a pass leaves out: every execution pays for the guard and runs the fallback, whether or not
/// the cost is measurable. `batches`: number of different batches of `held_out` that were measured; repetitions of a
/// batch say nothing about the data. With fewer than a third of them, no pass is named.
std::vector<LeftOut> passes_that_always_miss(const std::vector<PassReport>& passes, int64_t batches, int64_t held_out);

/// The end of the sentence about a pass that costs something and stays. Empty if it costs neither time nor memory
/// without a gain.
struct WhyKept {
  std::string text;            ///< " (kept for 3.1 MiB of memory less: 0.973 [0.936, 0.995] of the speed without it)"
  std::string without_speeds;  ///< the same without the speeds
};
WhyKept why_kept(const Contribution& contribution, bool keep_all);

}  // namespace stormcell
