// Recall of simple guesses of a token's experts before its router decides, without a network. Recall is the share of
// the choices that a guess of as many experts contains.
#pragma once
#include <cstdint>
#include <optional>

#include "core/profile/token_routes.h"

namespace stormcell {

/// A figure without data is empty.
struct Predictability {
  std::optional<double> temporal_lag1;  ///< guess: the experts of the token before, of the same request
  /// guess: the k most frequent of the layer in the same tokens; equal counts: the lower id
  std::optional<double> static_in_sample;
  std::optional<double> static_from_prompt;  ///< guess: the most frequent in the prompts
  std::optional<double> static_held_out;     ///< guess: the most frequent in the first 70 %; judged on the rest
  /// guess: the most frequent successors of the layer before in the first 70 %; judged on the rest
  std::optional<double> transition_held_out;
};

/// Judges decoded tokens, or all tokens if none are decoded.
Predictability predictability(const TokenRoutes& routes);

/// Recall of the token `lag` before. Both tokens are decoded ones. Empty: there is no such pair.
std::optional<double> temporal_recall(const TokenRoutes& routes, int64_t lag);

}  // namespace stormcell
