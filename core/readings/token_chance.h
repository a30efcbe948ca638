// Whether a run looks like random tokens, by its token ids or else by its choices. Not for views and commands, which see
// no SessionReader.
#pragma once
#include <optional>

#include "core/chance/random_tokens.h"
#include "core/profile/token_routes.h"
#include "core/session/session_reader.h"

namespace stormcell {

/// `routes`: the recorded choices, null if they were not read. Empty: the run has neither ids nor choices of tokens.
std::optional<RandomTokens> judge_tokens(const SessionReader& reader, const RunSummary& run, const TokenRoutes* routes);

/// The same for readers that have not read the choices: reads them only of a recording of few. `choices`: how many it
/// has.
bool looks_like_random_tokens(const SessionReader& reader, const RunSummary& run, int64_t choices);

}  // namespace stormcell
