// Draws the next token of a text (core/cell/sampling.h).
#pragma once
#include <cstdint>
#include <span>

#include "core/cell/sampling.h"

namespace stormcell::cpu {

/// A token of the scores [n], n >= 1. `order` [n] is worked in. The same token as by sorting all scores, in less time: a
/// rule with top_k orders no others, and one with top_p alone only as many as it keeps, to the next power of two.
int32_t sampled_token(std::span<const float> scores, const SamplingRule& rule, uint64_t key, std::span<int32_t> order);

}  // namespace stormcell::cpu
