// One measuring in a fresh process, or in this one if none can be started (fresh_measuring.h).
#pragma once
#include <string>

#include "core/base/progress.h"

namespace stormcell {

/// Opens the model anew and measures one plan, as a run's request says; request and answer are internal texts. The
/// process that `measuring_program` names calls it, then ends. Throws Error.
std::string measure_afresh(const std::string& request, const Progress& progress = {});

}  // namespace stormcell
