// The messages of a layer's dispatch, one for each pair of GPUs: what the closed form knows as sums of ports only.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "core/cost/layer_cost.h"
#include "core/placement/layer_tally.h"
#include "core/placement/placement.h"
#include "core/profile/token_routes.h"
#include "simulator/network/network.h"

namespace stormcell {

/// [from * ranks + to] rows of a token's hidden state, the diagonal 0.
using RankRows = std::vector<double>;

/// Of one layer, whose branches lie as `shares` says. Tokens whose home is not known live on each rank alike; replicas
/// share their branch's tokens, all of them or the nearest: of both, expectations. per_node: the way over the network
/// and what is forwarded from there, together.
RankRows dispatched_rows(const TokenRoutes& routes, std::span<const size_t> tokens, int32_t layer,
                         std::span<const BranchShares> shares, Backend backend, const Network& network,
                         ReplicaRule replicas = ReplicaRule::even);
/// The same of tokens that live elsewhere than the routes say: [tokens] on these ranks, each by its part; none: on each
/// rank alike. Replicas share evenly.
RankRows dispatched_rows(const TokenRoutes& routes, std::span<const size_t> tokens, int32_t layer,
                         std::span<const BranchShares> shares, std::span<const BranchShares> lives, Backend backend,
                         const Network& network);
/// [tokens] where they live before this layer of the placement, if they follow their first choices. As StepWork has it.
std::vector<BranchShares> lives_of_following(const TokenRoutes& routes, std::span<const size_t> tokens,
                                             const Placement& placement, int32_t layer);
/// The dispatch on whose ways back the combine goes of tokens that follow: from where each one's first choice lies.
RankRows followed_rows(const TokenRoutes& routes, std::span<const size_t> tokens, int32_t layer,
                       std::span<const BranchShares> shares, Backend backend, const Network& network);
/// Of counts [branches]: of backends per_expert and gather; `k` choices of a token.
RankRows dispatched_rows(std::span<const double> loads, double k, std::span<const BranchShares> shares, Backend backend,
                         const Network& network, ReplicaRule replicas = ReplicaRule::even);

/// A message for each pair that has rows; `row_bytes` of each.
std::vector<NetworkFlow> flows_of(const RankRows& rows, double row_bytes, const Network& network);
/// What goes back the same ways.
RankRows combined_rows(const RankRows& dispatched, int32_t ranks);

}  // namespace stormcell
