// Reads every choice of a run. Not for views and commands, which see no SessionReader.
#pragma once
#include "core/base/progress.h"
#include "core/profile/token_routes.h"
#include "core/session/session_reader.h"

namespace stormcell {

inline constexpr int64_t kMostTokenChoices = int64_t{1} << 29;

enum class ChoiceOrder : uint8_t {
  recorded,
  heaviest_first,  ///< among equal weights the lower branch first; as recorded if there are no weights
};

/// The space with the most routers, without padding. Takes 4 bytes a choice; Error(bad_input) where the run keeps no
/// decisions, or more than `most_choices` of them.
TokenRoutes read_token_routes(const SessionReader& session, const RunSummary& run, const Progress& progress,
                              int64_t most_choices = kMostTokenChoices, ChoiceOrder order = ChoiceOrder::recorded);

}  // namespace stormcell
