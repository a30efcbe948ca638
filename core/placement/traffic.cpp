#include "core/placement/traffic.h"

#include <algorithm>
#include <utility>

#include "core/placement/layer_tally.h"

namespace stormcell {

TrafficSums sum_traffic(const TokenRoutes& routes, std::span<const size_t> tokens, const Placement& placement) {
  std::vector<std::vector<BranchShares>> shares;
  for (const LayerSlots& layer : placement.layers) shares.push_back(shares_of(layer, placement.branches, placement.ranks));
  double same = 0, pairs = 0, distinct = 0, visits = 0;
  const auto ranks = static_cast<size_t>(placement.ranks);
  std::vector<double> here(ranks), before(ranks), absent(ranks);  // expected branches on a rank; the chance that none is
  for (const size_t t : tokens) {
    double k_before = 0;
    for (int32_t l = 0; l < routes.layers; ++l) {
      std::fill(here.begin(), here.end(), 0.), std::fill(absent.begin(), absent.end(), 1.);
      double k = 0;
      for (const int32_t branch : routes.at(t, l)) {
        if (branch < 0) continue;
        ++k;
        for (const auto& [rank, share] : shares[static_cast<size_t>(l)][static_cast<size_t>(branch)])
          here[rank] += share, absent[rank] *= 1 - share;
      }
      for (size_t r = 0; r < ranks; ++r) same += l > 0 ? here[r] * before[r] : 0, distinct += 1 - absent[r];
      pairs += l > 0 ? k * k_before : 0;
      visits += k > 0;
      k_before = k;
      std::swap(here, before);
    }
  }
  return {same, pairs, distinct, visits};
}

Traffic count_traffic(const TokenRoutes& routes, std::span<const size_t> tokens, const Placement& placement) {
  return sum_traffic(routes, tokens, placement).traffic();
}

std::vector<std::vector<double>> loads_of_tokens(const TokenRoutes& routes, std::span<const size_t> tokens) {
  std::vector<std::vector<double>> loads(static_cast<size_t>(routes.layers), std::vector<double>(static_cast<size_t>(routes.branches)));
  for (const size_t t : tokens)
    for (int32_t l = 0; l < routes.layers; ++l)
      for (const int32_t branch : routes.at(t, l))
        if (branch >= 0) ++loads[static_cast<size_t>(l)][static_cast<size_t>(branch)];
  return loads;
}

}  // namespace stormcell
