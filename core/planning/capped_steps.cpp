#include "core/planning/capped_steps.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/readings/read_token_routes.h"

namespace stormcell {
namespace {

/// Choices of a token.
size_t width_of(const TokenRoutes& routes) {
  return static_cast<size_t>(routes.layers) * static_cast<size_t>(routes.k);
}

void check_size(const TokenRoutes& routes, const OfParts<TokenSteps>& steps) {
  size_t tokens = 0;
  for (const DataPart part : kDataParts)
    for (const std::vector<size_t>& step : steps[part]) tokens += step.size();
  if (tokens * width_of(routes) > static_cast<size_t>(kMostTokenChoices))
    bad_input("--capacity-factor",
              "keeps each choice of each step, and these are more than " + with_commas(kMostTokenChoices),
              "name fewer --tokens-per-step");
}

/// Copies the step's tokens, which it then has.
void copy_tokens(const TokenRoutes& routes, std::vector<size_t>& step, TokenRoutes& capped) {
  const size_t width = width_of(routes);
  for (size_t& token : step) {
    const std::span<const int32_t> choices = std::span(routes.choice).subspan(token * width, width);
    capped.choice.insert(capped.choice.end(), choices.begin(), choices.end());
    capped.tokens.push_back(routes.tokens[token]);
    token = capped.size() - 1;
  }
}

/// Drops what is over in a layer. `taken`: [branches] room for counts.
void cap_layer(const std::vector<size_t>& step, int32_t layer, std::vector<int64_t>& taken, TokenRoutes& capped,
               CapacityFigures& dropped) {
  int64_t choices = 0;
  for (const size_t token : step)
    for (const int32_t choice : capped.at(token, layer)) choices += choice >= 0;
  const double most = capacity_of_step(dropped.factor, static_cast<double>(choices), taken.size());
  std::fill(taken.begin(), taken.end(), 0);
  int64_t kept = 0;
  for (const size_t token : step) {
    const std::span<int32_t> all = capped.at(token, layer);
    const bool visits = capped.visits(token, layer);
    size_t to = 0;  // kept ones stay in front
    for (const int32_t choice : all)
      if (choice >= 0 && static_cast<double>(++taken[choice]) <= most) all[to++] = choice;
    std::fill(all.begin() + to, all.end(), -1);
    kept += static_cast<int64_t>(to);
    if (visits && to == 0) ++dropped.lost_visits;
  }
  dropped.choices += static_cast<double>(choices), dropped.dropped += static_cast<double>(choices - kept);
}

}  // namespace

double capacity_of_step(double factor, double choices, size_t branches) {
  constexpr double kRounding = 1e-12;  // 1.1 x 80 / 8 is 11, whatever its last bit says
  return std::ceil(factor * choices / static_cast<double>(branches) * (1 - kRounding));
}

CappedSteps cap_steps(const TokenRoutes& routes, const OfParts<TokenSteps>& steps, double factor) {
  check_size(routes, steps);
  CappedSteps out{routes.like(), steps, {}};
  std::vector<int64_t> taken(routes.branches);
  for (const DataPart part : kDataParts) {
    out.dropped[part].factor = factor;
    for (std::vector<size_t>& step : out.steps[part]) {
      copy_tokens(routes, step, out.routes);
      for (int32_t layer = 0; layer < routes.layers; ++layer)
        cap_layer(step, layer, taken, out.routes, out.dropped[part]);
    }
  }
  return out;
}

CapacityFigures cap_steps(std::vector<LayerLoads>& steps, double k, double factor) {
  CapacityFigures out;
  out.factor = factor;
  for (LayerLoads& step : steps)
    for (std::vector<double>& layer : step) {
      double choices = 0, kept = 0;
      for (const double load : layer) choices += load;
      const double most = capacity_of_step(factor, choices, layer.size());
      for (double& load : layer) load = std::min(load, most), kept += load;
      out.choices += choices, out.dropped += choices - kept, out.lost_visits += (choices - kept) / k;
    }
  return out;
}

}  // namespace stormcell
