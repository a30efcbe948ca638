// Text of inspect on a session: its runs and placements.
#pragma once
#include <string>

#include "core/readings/session_runs.h"

namespace stormcell::cli {

std::string to_text(const SessionRuns& runs);

}  // namespace stormcell::cli
