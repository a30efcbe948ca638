// Messages of a layer's dispatch, one for each pair of GPUs. The closed form has only their sums by port.
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

/// Rows of one layer's dispatch if its branches lie as `shares` says. A token with an unknown home counts in equal
/// parts from each rank. Replicas share their branch's tokens evenly, or the nearest takes them; both give
/// expectations. per_node: rows over the network and rows forwarded from there, together.
RankRows dispatched_rows(const TokenRoutes& routes, std::span<const size_t> tokens, int32_t layer,
                         std::span<const BranchShares> shares, Backend backend, const Network& network,
                         ReplicaRule replicas = ReplicaRule::even);
/// The same if tokens live elsewhere than the routes say: [tokens] ranks of each with their parts; none: each rank in
/// equal parts. Replicas share evenly.
RankRows dispatched_rows(const TokenRoutes& routes, std::span<const size_t> tokens, int32_t layer,
                         std::span<const BranchShares> shares, std::span<const BranchShares> lives, Backend backend,
                         const Network& network);
/// [tokens] Homes before this layer of the placement if tokens follow their first choices, as in StepWork.
std::vector<BranchShares> lives_of_following(const TokenRoutes& routes, std::span<const size_t> tokens,
                                             const Placement& placement, int32_t layer);
/// The dispatch whose ways back the combine takes if tokens follow: from the rank of each token's first choice.
RankRows followed_rows(const TokenRoutes& routes, std::span<const size_t> tokens, int32_t layer,
                       std::span<const BranchShares> shares, Backend backend, const Network& network);
/// The same from counts [branches], for backends per_expert and gather; `k`: choices of a token.
RankRows dispatched_rows(std::span<const double> loads, double k, std::span<const BranchShares> shares, Backend backend,
                         const Network& network, ReplicaRule replicas = ReplicaRule::even);

/// A message for each pair with rows, of `row_bytes` each.
std::vector<NetworkFlow> flows_of(const RankRows& rows, double row_bytes, const Network& network);
/// Rows of the combine: the same ways back.
RankRows combined_rows(const RankRows& dispatched, int32_t ranks);

}  // namespace stormcell
