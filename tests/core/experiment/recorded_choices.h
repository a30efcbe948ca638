// Recorded decisions of a session, to be replayed by an executor.
#pragma once
#include <vector>

#include "core/runtime/executor.h"
#include "core/session/session_reader.h"

namespace stormcell {

/// By router of the program, then execution: what the session holds of one batch; empty for routers that it does not
/// know, which then decide freely. Error(bad_input) names file and router where a decision cannot be one of this
/// program's.
ReplayedDecisions recorded_choices(const SessionReader& session, int64_t run, int64_t batch, const Program& program);

}  // namespace stormcell
