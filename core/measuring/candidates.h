// The plans of one pipeline, ready to run: each pass on top of those before it, and each on its own.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/bench/workload.h"
#include "core/measuring/leave_out.h"
#include "core/measuring/mirrored.h"
#include "core/measuring/time_plan.h"
#include "core/passes/pipeline.h"

namespace stormcell {

inline constexpr size_t kNoPlan = SIZE_MAX;

struct Candidates {
  PipelineResult passed;
  /// Cumulative plans first, in the order of the passes, then those with a single pass. If the first pass that applies
  /// is alone anyway, one plan is both.
  std::vector<std::unique_ptr<ReadyPlan>> plans;
  std::vector<size_t> cumulative_of, alone_of;  ///< by outcome: its plan, kNoPlan where the pass changed nothing
  size_t final_plan = kNoPlan;                  ///< all passes together; kNoPlan: none applied
  Trying trying = Trying::all;                  ///< passes that are not tried have no plan
  bool only_together = false;       ///< several passes applied, and only the last one, upon all others, has a plan
  std::vector<std::string> wrong;   ///< by plan: its differences from the baseline (differences_from() of verify.h)
  std::vector<std::string> unlike;  ///< by plan: unlike_turns()
  /// Why the plan has no speed-up over the baseline; empty: it has one.
  const std::string& no_speed(size_t plan) const { return wrong.at(plan).empty() ? unlike.at(plan) : wrong[plan]; }
};

/// A plan may decode another text than the baseline where a near tie falls the other way. If it ends sooner, it does
/// less work, and its time says nothing about the plan. Describes the first batch, of those that both decoded, whose
/// turns differ (`new_tokens` of each sequence at most), in a sentence; empty: none.
std::string unlike_turns(const std::map<int64_t, std::vector<int32_t>>& plan,
                         const std::map<int64_t, std::vector<int32_t>>& baseline, int64_t new_tokens);

/// Chooses which plans are made, from the number of passes that apply on top of each other and the number of further
/// plans for single passes. Empty: all.
using ChooseTrying = std::function<Trying(size_t upon, size_t alone)>;
Candidates make_candidates(Workload& work, const LoadProfile& profile, const std::vector<ChosenPass>& chosen,
                           OnTheirOwn on_their_own, const Progress& progress, const ChooseTrying& choose = {});
/// The same of passes that have run already.
Candidates candidates_of(Workload& work, PipelineResult passed, OnTheirOwn on_their_own, const Progress& progress,
                         const ChooseTrying& choose = {});
/// Sets Candidates::wrong: a plan that computes something else has no speed-up.
void compare_with_baseline(Workload& work, ReadyPlan& baseline, const std::vector<int64_t>& batches,
                           Candidates& candidates, const CancellationToken& cancel);

/// Gain of each applied pass on top of those before it. Empty if several were only tried together.
std::vector<Contribution> contributions_of(const Candidates& candidates, const ReadyPlan& baseline,
                                           const MirroredTimes& times);
/// Gain of all passes together; only if there is a final plan.
Contribution total_of(const Candidates& candidates, const ReadyPlan& baseline, const MirroredTimes& times);

}  // namespace stormcell
