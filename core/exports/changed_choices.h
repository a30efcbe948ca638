// The choices of a recorded run with its routing changed, token by token: another choice where a branch is off, other
// choices from a file, another k. Nothing is computed: a next best branch comes from recorded scores.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/cell/intervention.h"
#include "core/session/session_reader.h"

namespace stormcell {

/// A real cell of the space with the most routers.
struct ReplayedToken {
  int64_t request = 0;
  int32_t position = 0;
  int32_t id = -1;  ///< of the vocabulary; -1: not recorded
};

struct ReplayedLayer {
  std::string router;
  int32_t branches = 0, k = 0;
  std::vector<int32_t> choices;  ///< [tokens, k]
  int64_t recorded = 0;          ///< choices of the recording
  int64_t changed = 0;           ///< those that it does not have any more, or the new ones if these are more
  std::vector<int64_t> load_before, load_after;  ///< [branches]: recorded choices of each branch, and changed ones
};

struct ChangedChoices {
  std::vector<ReplayedToken> tokens;  ///< request after request, by position
  std::vector<ReplayedLayer> layers;  ///< in the order of the run
  int64_t changed_tokens = 0;         ///< tokens with another choice at any layer
  std::vector<std::string> changes;   ///< a sentence for each part of the change
};

/// Throws Error(bad_input) that names the option or the session: a change that does not fit the run, one that needs
/// scores which it does not hold, cells without a full set of choices, which no replay can be told.
ChangedChoices changed_choices(const SessionReader& session, const RunSummary& run, const Intervention& change,
                               const Progress& progress);

}  // namespace stormcell
