// Tests of causes that change weights or scores, while the choices may stay the same.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "core/difference/causes.h"
#include "core/difference/sampled_choices.h"

namespace stormcell {

/// Weights of the cells whose choices are equal as sets.
struct WeightFigures {
  int64_t compared = 0;  ///< cells of routers with weights on both sides; 0: a side lacks them
  double mean_sum_a = 0, mean_sum_b = 0;
  double median_difference = 0;   ///< median over cells of sum |b - a| / sum a
  double median_unexplained = 0;  ///< the same after b is scaled to the sum of a
  std::vector<FoundCause> causes;
};
WeightFigures compare_weights(const SampledChoices& sample);

/// Scores, or choices beside scores, that only a shorter number format explains. Nothing: scores are not recorded, or
/// are alike.
std::optional<FoundCause> find_router_precision(const SampledChoices& sample);
/// Scores of a and b are related by another rule than that they are equal.
std::optional<FoundCause> find_other_scores(const SampledChoices& sample);

}  // namespace stormcell
