// Tokens whose choices are drawn from a seed.
#pragma once
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include "core/profile/token_routes.h"
#include "tests/testing/counts.h"

namespace stormcell::testing {

struct DrawnRoutes {
  size_t tokens = 0;
  int32_t layers = 0, branches = 0, k = 0, ranks = 0;
  int64_t branch_bytes = 0;  ///< 0: not known
  int64_t each = 0;          ///< tokens of a step; 0: all are of one
  bool homes = true;         ///< it is known on which of the ranks each token lives
  bool gaps = false;         ///< of sixteen choices one is none
  bool twice = false;        ///< one token of seven chooses a branch twice
};

/// Decoded tokens of distinct choices, but for what `how` says.
inline TokenRoutes drawn_routes(const DrawnRoutes& how, uint32_t seed) {
  testing::Drawn<std::mt19937> random(seed);
  const auto below = [&](int32_t end) { return static_cast<int32_t>(random() % static_cast<uint32_t>(end)); };
  TokenRoutes routes;
  routes.layers = how.layers, routes.branches = how.branches, routes.k = how.k;
  if (how.branch_bytes > 0) routes.branch_bytes.assign(static_cast<size_t>(how.layers), how.branch_bytes);
  for (size_t t = 0; t < how.tokens; ++t) {
    const auto number = static_cast<int64_t>(t);
    routes.tokens.push_back(
        {number, how.each > 0 ? number / how.each : 0, 0, Phase::decode, how.homes ? below(how.ranks) : -1});
    for (int32_t l = 0; l < how.layers; ++l) {
      std::set<int32_t> chosen;
      while (chosen.size() < static_cast<size_t>(how.k)) chosen.insert(below(how.branches));
      for (const int32_t c : chosen) routes.choice.push_back(!how.gaps || random() % 16 ? c : -1);
      if (how.twice && t % 7 == 0) routes.choice.back() = *chosen.begin();
    }
  }
  return routes;
}

/// The numbers of all tokens.
inline std::vector<size_t> all_of(const TokenRoutes& routes) {
  std::vector<size_t> all(routes.size());
  std::iota(all.begin(), all.end(), size_t{0});
  return all;
}

}  // namespace stormcell::testing
