// Early exits as a subject: the whole curve of quality against mean cost over thresholds, from one recorded run.
#pragma once
#include <optional>

#include "core/experiment/workload.h"

namespace stormcell {

/// Runs all batches once more, every item through the whole network (each router's decision is given: go on), with the scores of every
/// exit kept; then the rule of the exits is asked what it would have decided on these scores, for one threshold after another. Nothing
/// where the model has no exits, or the data do not say what is right.
std::optional<ExitCurve> exit_curve(Workload& work, const Progress& progress);

}  // namespace stormcell
