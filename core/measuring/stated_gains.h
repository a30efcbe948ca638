// States the gains in the result of an optimisation: of the plan that is kept, and of each pass.
#pragma once
#include <optional>
#include <string_view>

#include "core/measuring/candidates.h"
#include "core/measuring/gains.h"
#include "core/measuring/mirrored.h"
#include "core/measuring/pooled.h"
#include "core/summary/results.h"

namespace stormcell {

/// The measurements of the plans.
struct PlanTimes {
  const Candidates& candidates;
  const ReadyPlan& baseline;
  const MirroredTimes& times;               ///< of all plans
  const MirroredTimes* together = nullptr;  ///< of the plan that is kept alone; null: `times` has it

  /// The stated figures of the plan that is kept, and its number among them.
  const MirroredTimes& stated() const { return together ? *together : times; }
  size_t stated_plan() const { return together ? 0 : candidates.final_plan; }
};

class StatedGains {
 public:
  /// `held_out`: the number of batches that could be measured. `result` is kept, and gets a report of each pass before
  /// a gain is set.
  StatedGains(int64_t held_out, RunSummaryFigures& result) : gains_(held_out), result_(result) {}

  /// The report of a pass. It must exist.
  PassReport& report(std::string_view pass) const;
  /// The gain of a pass alone: the speed-up of that plan.
  void set_alone(PassReport& report, const PlanTimes& measured, size_t plan);
  /// The gain of a pass upon those before it.
  void set_own(const Contribution& contribution);
  /// States the gains after the verification, or the reason why there are none.
  void set(const PlanTimes& measured, bool keep_all);
  /// Sets the speed-up to the one over all processes, also as the cumulative speed-up of the last pass that applied.
  /// Nothing: too few processes measured, and no figure changes.
  void set_total(const std::optional<Pooled>& total) const;

 private:
  PassReport* last_applied() const;  // null: none
  void set_of_plans(const PlanTimes& measured, bool keep_all);

  Gains gains_;
  RunSummaryFigures& result_;
};

}  // namespace stormcell
