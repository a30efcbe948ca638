// The graphs of a plan, one for each size of picture.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/bench/state.h"
#include "core/cell/intervention.h"
#include "core/cell/router_threshold.h"
#include "core/passes/pipeline.h"

namespace stormcell {

/// Parameters by which each pass does again what it did.
using PassConfiguration = std::map<std::string, PassParameters>;

/// The graph as the passes of a configuration leave it. Throws Error(failed) where one does not apply: `why` of it, and
/// the pass's reason.
std::shared_ptr<const Graph> replay_or_fail(const PassInput& input, const PassConfiguration& configuration,
                                            const std::string& why);

/// `first` for the largest pictures of the data (ExperimentState::picture); for others the model's graph of that size,
/// changed as `configuration` says. Calling it throws Error(failed) if a pass that changed `first` does not apply to
/// that size. The state must outlive it. That graph has the `thresholds`, `intervention` and `annotations` of `first`
/// before its passes.
GraphOfSize plan_graphs(const ExperimentState& state, std::shared_ptr<const Graph> first,
                        PassConfiguration configuration, std::vector<std::string> annotations = {},
                        RouterThresholds thresholds = {}, Intervention intervention = {});

}  // namespace stormcell
