// Placement for balance and traffic together: branches that tokens take together, and one after the other, come to one
// rank, as far as no rank gets more than it may. Layers are first aligned with their neighbours, each as a whole; then
// by annealed swaps of two slots of a layer and, where there are spare ones, by replicas that come and go. Both aims
// are sums over pairs of branches, so a move is judged by a few sums that are kept: 256 branches and 64 ranks cost what
// 8 and 2 do.
#pragma once
#include <cstdint>
#include <span>

#include "core/base/progress.h"
#include "core/placement/placement.h"
#include "core/placement/search_time.h"
#include "core/profile/token_routes.h"

namespace stormcell {

struct JointOptions {
  double together = 1;  ///< weight of a pair of one layer, that of a pair of consecutive layers being 1
  double slack = 0;     ///< a rank may get so much more than the mean, as a share; at least what it gets at the start
  uint32_t seed = 1;
  int32_t sweeps = 60;  ///< proposals for each slot
  int32_t nodes = 1;    ///< ranks of a node follow each other: those that tokens take together come to one
  SearchTime time = {};
};

/// Fits a placement to these tokens, from `start`. Neither has a branch twice on a rank.
Placement joint_placement(const TokenRoutes& routes, std::span<const size_t> tokens, const Placement& start,
                          const JointOptions& options, const Progress& progress = {});

}  // namespace stormcell
