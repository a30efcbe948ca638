// Thresholds of exits for a budget or a quality: found on one part of the data, judged on the other; and those that a configuration brings.
#pragma once
#include <optional>

#include "core/cell/router_threshold.h"
#include "core/experiment/exit_record.h"
#include "core/experiment/profile_split.h"
#include "core/passes/pipeline.h"

namespace stormcell {

/// What was found, and the record that it was found on.
struct FoundTarget {
  ExitTarget figures;       ///< `fitted`, `predicted` and `own` of it; the real run comes later
  RouterThresholds in_use;  ///< by exit
  ExitRecord record;        ///< its rules have those thresholds; costs of the plan that the passes are expected to make
  std::vector<size_t> searched_items, held_out_items;  ///< of either part those that can be judged

  /// Tells the points anew, of the plan whose operations the record has now.
  void tell_points();
  /// By the operations of that plan the target is not met even where it was searched: what the plan was expected to spare it does not.
  bool exceeds_operations() const;
};

/// Throws Error(bad_input) where --target-quality and --target-latency contradict each other or the phase. Before anything is opened.
void check_target(const ExperimentOptions& options);

/// Operations are those of the plan that `chosen` is expected to make. Nothing where no target was asked for. Throws Error(bad_input) that
/// names the option: a model without exits, data that do not say what is right, one batch alone; a target beyond what any thresholds
/// reach, with the best that they do.
std::optional<FoundTarget> find_thresholds(Experiment::State& state, const std::vector<ChosenPass>& chosen, const Progress& progress);

/// Really runs `held_out_batches` with `plan`, which has the thresholds that were found, and measures for so many seconds what
/// they bring beside the model's own; nothing: not at all, as of a result that states no speed.
ExitTarget judge_thresholds(Workload& work, ReadyPlan& plan, const FoundTarget& found, const std::vector<int64_t>& held_out_batches,
                            std::optional<double> seconds, const Progress& progress);

/// Throws Error(bad_input) that names `where` unless these are thresholds of the model's exits, all of them, in the order in which they
/// run.
void check_thresholds(const Experiment::State& state, const RouterThresholds& wanted, const std::string& where);

}  // namespace stormcell
