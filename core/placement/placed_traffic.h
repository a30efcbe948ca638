// Traffic of recorded tokens under a placement that changes by single moves: a move is counted by the tokens that chose
// the moved branch. It gives what count_traffic() says of the whole, in the time that a hand leaves between two looks.
// With the nearest replicas a token that lives anywhere is counted from each of its homes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/placement/branch_index.h"
#include "core/placement/layer_tally.h"
#include "core/placement/placement.h"
#include "core/placement/traffic.h"
#include "core/profile/token_routes.h"

namespace stormcell {

class PlacedTraffic {
 public:
  /// Counts these tokens, each once; the routes must outlive it. `start` has a layer for each of the routes' and no
  /// fault. Takes 4 bytes a choice.
  PlacedTraffic(const TokenRoutes& routes, std::span<const size_t> tokens, const Placement& start,
                const ReplicaWay& way = {});

  Traffic traffic() const { return sums_.traffic(); }
  const TrafficSums& sums() const { return sums_; }
  /// Moves branches of a layer to where `slots` has them now.
  void follow(size_t layer, const LayerSlots& slots, std::span<const int32_t> branches);
  /// Counts everything anew, for a placement in which much has changed.
  void restart(const Placement& placement);

 private:
  /// Moves the branch to where next_ says; replicas share evenly.
  void move_branch(size_t layer, int32_t branch);
  void add_pairs(size_t layer, int32_t branch, double sign);
  void add_ranks(size_t layer, int32_t branch, double sign);
  /// The chance that two branches meet a token on one rank.
  double same_rank(size_t token, const BranchShares& a, const BranchShares& b);
  double distinct_ranks(size_t token, size_t layer);
  /// Distinct ranks of a token with one home, which is not looked at if replicas share evenly.
  double distinct_ranks_from(size_t token, size_t layer, size_t home);
  /// Whether the token's home decides which of these replicas it goes to.
  bool by_home(const BranchShares& shares) const { return way_.rule == ReplicaRule::nearest && shares.size() > 1; }
  /// Mean of what `visit(home)` gives over the token's homes: its own, or all ranks alike.
  template <class Visit>
  double over_homes(size_t token, Visit&& visit) const;

  const TokenRoutes& routes_;
  const std::vector<size_t> all_;
  const int32_t ranks_;
  const ReplicaWay way_;
  const size_t gpus_per_node_;
  std::vector<std::vector<BranchShares>> shares_;  // [layers][branches]
  const BranchIndex<uint32_t> tokens_;
  TrafficSums sums_;
  BranchShares next_, near_, near_too_;
  BranchMove move_;
  // [branches] of the layers beside the branch that moves: by how much likelier each meets it
  std::vector<double> before_, behind_;
  std::vector<double> absent_;  // [ranks] of the token at hand: the chance that it does not come there
  std::vector<size_t> touched_;
};

}  // namespace stormcell
