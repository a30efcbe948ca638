// Tests of causes that lie in the place of a choice: another layer, token, request, or padding.
#pragma once
#include <optional>

#include "core/difference/causes.h"
#include "core/difference/sampled_choices.h"

namespace stormcell {

/// A supposition counts if it takes half of the disagreement away, beyond chance.
inline constexpr double kExplainedPart = .5, kBeyondChance = 5;

/// The sum over sampled cells and routers of 1 - agreement.
double disagreement_of(const SampledChoices& sample);

std::optional<FoundCause> find_layer_shift(const SampledChoices& sample);
std::optional<FoundCause> find_token_shift(const SampledChoices& sample);
std::optional<FoundCause> find_exchanged_requests(const SampledChoices& sample);
/// Looks at the cells that only one recording has, within requests of both.
std::optional<FoundCause> find_recorded_padding(const SampledChoices& sample);

}  // namespace stormcell
