// Text as it is decoded: one layer, one token a step.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/profile/token_routes.h"

namespace stormcell::testing {

/// Each token takes one expert of 10 bytes.
inline TokenRoutes decoded(const std::vector<int32_t>& experts, int32_t branches = 4) {
  TokenRoutes routes;
  routes.layers = 1, routes.branches = branches, routes.k = 1, routes.branch_bytes = {10};
  for (size_t t = 0; t < experts.size(); ++t) {
    routes.tokens.push_back({0, static_cast<int64_t>(t), static_cast<int32_t>(t), Phase::decode});
    routes.choice.push_back(experts[t]);
  }
  return routes;
}

}  // namespace stormcell::testing
