// How well a token's experts could be told before its router decides, by rules that need no network: recall, the share
// of the choices that a guess of equally many holds.
#pragma once
#include <cstdint>
#include <optional>

#include "core/profile/token_routes.h"

namespace stormcell {

/// What there is no data for is empty.
struct Predictability {
  std::optional<double> temporal_lag1;  ///< the token before, of the same request
  /// the k most frequent of the layer in the same tokens; equal counts: the lower id
  std::optional<double> static_in_sample;
  std::optional<double> static_from_prompt;  ///< those of the prompts
  std::optional<double> static_held_out;     ///< those of the first 70 % of the tokens, on the rest
  /// those that followed the layer before most often in the first 70 %, on the rest
  std::optional<double> transition_held_out;
};

/// Of decoded tokens; of a run that decodes none, of all.
Predictability predictability(const TokenRoutes& routes);

/// Recall of the token `lag` before; decode tokens whose predecessor is one too. Empty: there is none.
std::optional<double> temporal_recall(const TokenRoutes& routes, int64_t lag);

}  // namespace stormcell
