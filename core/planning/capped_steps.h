// What-if of a capacity: what is over it in a step and layer is dropped before anything is costed.
#pragma once
#include <cstddef>
#include <vector>

#include "core/placement/placement.h"
#include "core/planning/step_figures.h"
#include "core/profile/token_routes.h"

namespace stormcell {

/// Choices that each of `branches` takes of `choices` in a layer of a step: an even share times `factor`, rounded up.
double capacity_of_step(double factor, double choices, size_t branches);

struct CappedSteps {
  TokenRoutes routes;  ///< without what is dropped
  OfParts<TokenSteps> steps;
  OfParts<CapacityFigures> dropped;
};
/// Each step has tokens of its own: the same token may lose one choice in one step and another in the next. Who comes
/// first is served, in the order of a step's tokens and of each one's choices, as the Switch protocol does.
/// Error(bad_input) that names --capacity-factor: more than kMostTokenChoices.
CappedSteps cap_steps(const TokenRoutes& routes, const OfParts<TokenSteps>& steps, double factor);
/// The same for one part's counts, `k` choices of a token; returns what is dropped.
CapacityFigures cap_steps(std::vector<LayerLoads>& steps, double k, double factor);

}  // namespace stormcell
