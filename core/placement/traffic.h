// Traffic of a placement between ranks, and the ranks' loads, counted on recorded choices.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "core/placement/layer_tally.h"
#include "core/placement/placement.h"
#include "core/profile/token_routes.h"

namespace stormcell {

/// The replicas that tokens go to, on ranks of so many nodes. Each token goes by itself, so with replicas figures are
/// expectations. With the nearest, a token whose home is none of the ranks lives on each of them alike.
struct ReplicaWay {
  ReplicaRule rule = ReplicaRule::even;
  int32_t nodes = 1;
};

struct Traffic {
  double cross_pairs = 0;  ///< share, of the k x k pairs of a token's branches at consecutive routers, that lies on two
                           ///< ranks
  double ranks_per_token = 0;  ///< distinct ranks that a token goes to at a router, as a mean
};

/// Sums that Traffic is made from, so that parts can be added up.
struct TrafficSums {
  double same = 0, pairs = 0;  ///< pairs of consecutive branches: on one rank, all
  double distinct = 0, visits = 0;
  Traffic traffic() const { return {pairs > 0 ? 1 - same / pairs : 0, visits > 0 ? distinct / visits : 0}; }
};
TrafficSums sum_traffic(const TokenRoutes& routes, std::span<const size_t> tokens, const Placement& placement,
                        const ReplicaWay& way = {});

/// Traffic of these tokens. The placement has a layer for each of the routes'.
Traffic count_traffic(const TokenRoutes& routes, std::span<const size_t> tokens, const Placement& placement,
                      const ReplicaWay& way = {});

/// How often each branch is chosen by these tokens.
LayerLoads loads_of_tokens(const TokenRoutes& routes, std::span<const size_t> tokens);

/// [layers][ranks] choices of these tokens that each rank computes.
std::vector<std::vector<double>> rank_loads_of_tokens(const TokenRoutes& routes, std::span<const size_t> tokens,
                                                      const Placement& placement, const ReplicaWay& way);
/// The same for counts, whose tokens live anywhere.
std::vector<std::vector<double>> rank_loads_of_counts(const LayerLoads& loads, const Placement& placement,
                                                      const ReplicaWay& way);

}  // namespace stormcell
