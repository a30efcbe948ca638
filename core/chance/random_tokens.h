// Whether a recording looks like random tokens. Text has frequent tokens, repeats them, and neighbours are related.
// Random ids have none of this. Most of them are rare words, which routers were hardly trained on and send to few
// branches. So such recordings overstate the skew that a server of text sees.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/profile/token_routes.h"

namespace stormcell {

enum class RandomSource : uint8_t { token_ids, choices };

/// Each sign is in standard deviations above chance. Text has large ones.
struct RandomTokens {
  RandomSource source = RandomSource::choices;
  int64_t tokens = 0;
  std::optional<double> uneven;   ///< ids differ in frequency; empty: there are no ids
  std::optional<double> related;  ///< a token and the next one of its request are related
  /// Ids occur again in their request more than uniform ones do. Of choices: those at the first two routers do so more
  /// than in other requests; empty if there is one request.
  std::optional<double> repeated;
  /// True if no sign is there, false if any is. Empty: too few tokens, or all go the same way.
  std::optional<bool> looks_random;
};

/// Token ids of requests, in order of position.
RandomTokens random_tokens_of(const std::vector<std::vector<int32_t>>& requests);
/// Judges choices instead. They do not tell whether the tokens are uniform.
RandomTokens random_tokens_of(const TokenRoutes& routes);

}  // namespace stormcell
