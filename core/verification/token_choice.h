// Which token logits give, and how much they would have to err for another one: greedily the token of the largest logit,
// or the one that a rule draws.
#pragma once
#include <cstdint>
#include <optional>
#include <span>

#include "core/cell/sampling.h"

namespace stormcell {

/// One turn of one sequence, by which draws are known.
struct TokenPlace {
  int64_t item = 0, turn = 0;
};

class TokenChoice {
 public:
  TokenChoice() = default;
  explicit TokenChoice(const std::optional<SamplingRule>& rule) : rule_(rule) {}

  /// The lowest of equals. -1: there are no logits.
  int32_t token(std::span<const float> logits, TokenPlace place) const;
  /// The distance of two logits that has to be wrong for `other` to be chosen in the place of `chosen`, which these
  /// logits give. Infinite if `other` is no token.
  double margin(std::span<const float> logits, int32_t chosen, int32_t other, TokenPlace place) const;

 private:
  std::optional<SamplingRule> rule_;
};

/// -infinity for what is no token.
double logit_of(std::span<const float> logits, int32_t token);

}  // namespace stormcell
