// The rule by which tokens are drawn, from the options of an experiment.
#pragma once
#include <optional>

#include "core/cell/sampling.h"
#include "core/summary/settings.h"

namespace stormcell {

/// Nothing: neither --temperature, --top-k nor --top-p asks for draws.
std::optional<SamplingRule> sampling_of(const ExperimentOptions& options);
/// Throws Error(bad_input) where the rule leaves no token to draw. Before anything is opened.
void check_sampling(const ExperimentOptions& options);

}  // namespace stormcell
