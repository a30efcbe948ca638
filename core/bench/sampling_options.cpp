#include "core/bench/sampling_options.h"

#include <fmt/format.h>

#include "core/base/error.h"

namespace stormcell {
namespace {

/// Scores are divided by it: below this, one token has all of the probability, and quotients may not be finite.
constexpr double kLeastTemperature = 1e-4;

}  // namespace

std::optional<SamplingRule> sampling_of(const ExperimentOptions& o) {
  if (!o.temperature && !o.top_p && o.top_k == 0) return {};
  return SamplingRule{o.seed, o.temperature.value_or(1), o.top_k, o.top_p.value_or(1)};
}

void check_sampling(const ExperimentOptions& o) {
  if (o.temperature && *o.temperature < kLeastTemperature)
    bad_input("--temperature", fmt::format("{} leaves nothing to draw", *o.temperature),
              "leave out --temperature, --top-k and --top-p: then the token of the largest logit is written");
  if (o.top_p && *o.top_p <= 0)
    bad_input("--top-p", fmt::format("{} leaves no token to draw", *o.top_p),
              "give a share above 0 and at most 1: 0.9");
}

}  // namespace stormcell
