#include "core/experiment/exits_of_plan.h"

#include <utility>

#include "core/exits/exit_costs.h"
#include "core/exits/exit_curve.h"
#include "core/summary/exit_target.h"

namespace stormcell {

void set_exits(Workload& work, const ExitsOfPlan& plan, RunSummaryFigures& figures, const Progress& progress) {
  std::optional<ExitRecord> record = plan.found ? plan.found->record : record_exits(work, plan.batches, progress);
  if (!record) return;
  const bool passed = figures.verified->passed;
  // Operations are those of the plan that is kept and exported, if it is right.
  record->count_in(passed ? graphs_with_exits(work, plan.passed, record->chain) : std::nullopt,
                   work.state().model->answer);
  figures.exits = exit_curve(*record);
  if (!plan.found) return;
  FoundTarget found = *plan.found;
  found.record = std::move(*record);
  found.tell_points();
  // The thresholds are the best ones for the plan that was expected. If another plan was kept, others may be better.
  if (found.figures.fitted.mean_cost != plan.found->figures.fitted.mean_cost) found.figures.is_optimum = false;
  if (passed && found.exceeds_operations())
    figures.warnings.push_back(
        "the thresholds were searched for a plan in which work waits for the exits before it, and the one that was "
        "kept takes more: " +
        exit_point_text(found.figures, found.figures.fitted, {}) + " where they were found");
  figures.exit_target =
      judge_thresholds(work, plan.baseline, &plan.optimized, found, plan.held_out, plan.beside, progress);
  if (plan.few_pairs) figures.exit_target->withheld = figures.exit_target->over_model_withheld = plan.few_pairs;
}

}  // namespace stormcell
