// Text of inspect on a session: its runs and placements.
#pragma once
#include <string>

#include "app/cli/page.h"
#include "core/readings/session_runs.h"

namespace stormcell::cli {

Page page_of(const SessionRuns& runs);

}  // namespace stormcell::cli
