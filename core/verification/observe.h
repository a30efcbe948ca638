// A plan run on one batch so that it can be judged.
#pragma once
#include "core/bench/state.h"
#include "core/verification/judge.h"

namespace stormcell {

/// Runs one batch, recorded, with its outputs; `replay`: with the decisions of another execution replayed, nullptr:
/// freely. `as_reference`: as decisions_of() takes it.
Observed observe(ExperimentState& state, ReadyPlan& plan, const Batch& batch, const Observed* replay,
                 const CellReach* as_reference = nullptr);

}  // namespace stormcell
