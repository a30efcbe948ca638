// The graphs whose operations count for the exits of a network: those of the plan that passes made, in which work waits
// for the exits before it.
#pragma once
#include <optional>
#include <vector>

#include "core/bench/workload.h"
#include "core/exits/exit_chain.h"
#include "core/passes/pipeline.h"

namespace stormcell {

/// The graphs of the plan that `passed` made of work.graph(), without passes that remove exits of `chain`: these are
/// behind a guard, and a miss costs a batch, not an item. Empty: no applied pass keeps the exits.
std::optional<GraphOfSize> graphs_with_exits(const Workload& work, const PipelineResult& passed,
                                             const ExitChain& chain);

/// The graphs that these passes would make if as many items left at each exit as go on: an estimate of a plan before
/// its thresholds are known.
std::optional<GraphOfSize> expected_graphs(const Workload& work, const std::vector<ChosenPass>& chosen,
                                           const ExitChain& chain);

}  // namespace stormcell
