// Opens what every verb needs: model, data, device, weights.
#pragma once
#include <memory>

#include "core/base/progress.h"
#include "core/bench/state.h"
#include "core/summary/settings.h"

namespace stormcell {

/// Opens and checks everything, and measures nothing. Throws Error.
std::unique_ptr<ExperimentState> open_state(const ExperimentOptions& options, const Progress& progress);

}  // namespace stormcell
