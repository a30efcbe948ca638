#include "core/placement/traffic.h"

#include <algorithm>
#include <utility>

namespace stormcell {
namespace {

/// Of one layer: the ranks of each branch, with the share of its tokens.
using Shares = std::vector<std::vector<std::pair<size_t, double>>>;

Shares shares_of(const Placement& p, const LayerSlots& layer) {
  const std::vector<int32_t> replicas = replicas_of(layer, p.branches);
  Shares shares(static_cast<size_t>(p.branches));
  const auto each = static_cast<size_t>(p.slots_of_rank());
  for (size_t s = 0; s < layer.size(); ++s) {
    const auto b = static_cast<size_t>(layer[s]);
    shares[b].push_back({s / each, 1. / replicas[b]});
  }
  return shares;
}

}  // namespace

Traffic count_traffic(const TokenRoutes& routes, std::span<const size_t> tokens, const Placement& placement) {
  std::vector<Shares> shares;
  for (const LayerSlots& layer : placement.layers) shares.push_back(shares_of(placement, layer));
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
  return {pairs > 0 ? 1 - same / pairs : 0, visits > 0 ? distinct / visits : 0};
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
