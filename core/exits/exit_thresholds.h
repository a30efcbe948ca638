// Thresholds of exits for a budget or a quality: found on one part of the data, judged on the other; and those that a
// configuration brings.
#pragma once
#include <optional>

#include "core/bench/profile_split.h"
#include "core/cell/router_threshold.h"
#include "core/exits/exit_record.h"
#include "core/measuring/paired_speedup.h"
#include "core/passes/pipeline.h"

namespace stormcell {

/// The target that was found, with its record.
struct FoundTarget {
  ExitTarget figures;       ///< `fitted`, `predicted` and `own` of it; the real run comes later
  RouterThresholds in_use;  ///< by exit
  ExitRecord record;        ///< with these thresholds; costs of the plan that is expected from the passes
  std::vector<size_t> searched_items, held_out_items;  ///< items of either part that can be judged

  /// Computes the points again, for the plan whose operations the record has now.
  void tell_points();
  /// True if the operations of that plan miss the target even on the searched part: the plan does not save what was
  /// expected.
  bool exceeds_operations() const;
};

/// Finds the thresholds for the target; empty if there is no target. Operations are those of the plan that `chosen` is
/// expected to make. Throws Error(bad_input) that names the option: a model without exits, data without right answers,
/// a single batch, or a target that no thresholds reach, with the best that they do. `split`: the batches to search on
/// and to judge on. `most_executions`: as in measure_exit_times().
std::optional<FoundTarget> find_thresholds(ExperimentState& state, const std::vector<ChosenPass>& chosen,
                                           const ProfileSplit& split, double most_executions, const Progress& progress);
/// Throws Error(bad_input) if no thresholds can be searched for: a model without exits, or a single batch. Runs
/// nothing.
void check_target(ExperimentState& state);

/// Time for measuring plans beside the unchanged model: the seconds wanted, and the seconds after which measuring ends
/// in any case.
struct BesideOwn {
  double seconds = 0, most_seconds = 0;
};
/// Runs `held_out_batches` with `plan`, the baseline with the thresholds that were found. Measures their gain over the
/// model's own, alone and together with `optimized`, the plan that is kept (null: the baseline). If `measured` is
/// nothing, as for a result that states no speed, no gain is measured.
ExitTarget judge_thresholds(Workload& work, ReadyPlan& plan, ReadyPlan* optimized, const FoundTarget& found,
                            const std::vector<int64_t>& held_out_batches, std::optional<BesideOwn> measured,
                            const Progress& progress);

/// States the gain of the thresholds, and that of thresholds and passes together over the unchanged model. Each is
/// withheld for its own reason: batches may gain alike in one and not in the other. `held_out`: batches that could have
/// been measured.
void state_target_gains(const Ratio& of_thresholds, const Ratio& over_model, int64_t held_out, ExitTarget& target);

/// Throws Error(bad_input) that names `where` unless these are thresholds of the model's exits, all of them, in the
/// order in which they run.
void check_thresholds(const ExperimentState& state, const RouterThresholds& wanted, const std::string& where);

}  // namespace stormcell
