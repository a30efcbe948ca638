// What loses is left out: a pass that makes the plan slower and saves no memory has no place in it, nor has one that
// takes memory for no gain.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/measuring/paired_speedup.h"
#include "core/summary/results.h"

namespace stormcell {

struct PlanBytes {
  int64_t weights = 0, activations = 0;  ///< the most held at once
};

/// What one pass brought: the plan with it against the plan without it.
struct Contribution {
  std::string pass;
  Ratio speed;
  PlanBytes without, with;
  /// how one of the two plans differs from the baseline, so that the speed says nothing; empty: not at all
  std::string wrong = {};
};

/// Bytes that a plan needs less than another; 0 where neither weights nor activations shrink by a hundredth: that is
/// the planner's luck.
int64_t saved_bytes(const PlanBytes& without, const PlanBytes& with);

struct LeftOut {
  std::string pass, reason;
  std::string reason_without_speeds = {};  ///< as PassReport has it
};
/// The passes to leave out: of those that save no memory the ones whose interval lies below 1, and, where they need
/// more of it, those whose interval does not lie above 1 and excludes a gain of a fiftieth. Where none does, yet all
/// together are slower than the baseline (`total`) and save nothing, the one that brought least. Empty: the plan stays
/// as it is. The speed of a plan that computes something else than the baseline, or texts of another length, is none:
/// such contributions are not looked at, and with such a total nothing is left out.
std::vector<LeftOut> passes_to_leave_out(const std::vector<Contribution>& contributions, const Contribution& total);

/// The passes whose guards never held in what was measured: `passes` with the counts of the plan that was. What such a
/// pass leaves out, these data always need; every execution pays for the guard and runs the fallback, too little of
/// both to be measurable or not. `batches`: so many different ones of `held_out` were measured; how often each was run
/// again is no
/// property of the data. Fewer than a third of them say nothing about the data, and no pass is named.
std::vector<LeftOut> passes_that_always_miss(const std::vector<PassReport>& passes, int64_t batches, int64_t held_out);

/// The end of the sentence about a pass that costs something and stays. Empty if it costs neither time nor memory
/// without a gain.
struct WhyKept {
  std::string text;            ///< " (kept for 3.1 MiB of memory less: 0.973 [0.936, 0.995] of the speed without it)"
  std::string without_speeds;  ///< the same without the speeds
};
WhyKept why_kept(const Contribution& contribution, bool keep_all);

}  // namespace stormcell
