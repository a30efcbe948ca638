// Work of each rank in a step under a placement: products and rows sent, from recorded choices or from counts.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/base/step_terms.h"
#include "core/cost/layer_cost.h"
#include "core/placement/layer_tally.h"
#include "core/placement/placement.h"
#include "core/profile/token_routes.h"

namespace stormcell {

/// Cost of one step, all layers together.
struct StepCost {
  LayerCost cost;
  double delivered_rows = 0;                 ///< rows to ranks that are not the token's own, however they travel
  double returned_rows = 0;                  ///< the same on the way back
  double fabric_rows = 0, network_rows = 0;  ///< sent, forwarded rows included
  double visits = 0;                         ///< tokens that met a layer
  double seconds() const { return cost.seconds(); }
};

/// Work of the ranks in one layer. `ranks`: products and the dispatch. `combined`: the dispatch that the combine
/// reverses, which is the same one, unless tokens follow.
struct LayerWork {
  std::span<const RankWork> ranks, combined;
  double met = 0;  ///< the chance that a token meets its most met branch: 1 for whole tokens
  HomeCrowding dispatch_homes, combine_homes;
  /// Sets both for tokens that may live anywhere. Those that follow do so in the first layer's dispatch alone.
  void crowd(const HomeCrowding& homes, Residence residence, size_t layer);
  /// Some rank reads a whole branch that is met, whichever replica's turn it is: the slowest rank computes at least
  /// that.
  LayerCost cost(const CostModel& model) const;
};
/// `counts`: tokens of each branch.
template <class Count>
double chance_met(std::span<const Count> counts) {
  return counts.empty() ? 0 : std::min<double>(1, *std::max_element(counts.begin(), counts.end()));
}
/// Called for each layer in its turn with its number, the ranks' work in it, and its cost. The work is valid until the
/// call returns.
using LayerVisitor = std::function<void(size_t layer, const LayerWork& work, const LayerCost& cost)>;

/// Whether each of these tokens says which of the ranks it lives on.
bool homes_known(const TokenRoutes& routes, std::span<const size_t> tokens, int32_t ranks);

/// Work and cost of steps under a placement. Replicas of an expert, or the nearest of them, share its tokens evenly:
/// each token is sent for itself and the replicas compute by turns, so with replicas figures are expectations. Tokens
/// live where their rank says. If one does not say, all ranks are equally likely for all, rows sent are expectations,
/// and homes' ports are as busy as those of as many ranks as there are tokens. Tokens that follow begin there.
class StepWork {
 public:
  /// The ranks of a node follow each other; `nodes` divides the ranks.
  /// If tokens follow, replicas share evenly.
  StepWork(const Placement& placement, int32_t nodes, Backend backend, const CostModel& model,
           ReplicaRule replicas = ReplicaRule::even, Residence residence = Residence::home);

  /// Cost of these tokens, computed together. The placement has a layer for each of the routes'. If tokens follow, the
  /// first choice of each is the heaviest.
  StepCost of_tokens(const TokenRoutes& routes, std::span<const size_t> tokens, const LayerVisitor& visitor = {});
  /// Cost of counts, `k` choices of a token. Only for backends per_expert and gather: the others need to know which
  /// choices were one token's.
  StepCost of_loads(const LayerLoads& loads, double k, const LayerVisitor& visitor = {});

 private:
  void begin_layer();
  /// Adds products of branches whose tokens have known homes, if those go to the nearest replicas.
  void add_products_by_home(size_t layer);
  /// Adds a token that lives on these ranks, each by its part (none: anywhere). `homes` becomes those that it follows
  /// to.
  void add_following(size_t layer, std::span<const int32_t> choices, BranchShares& homes);
  void end_layer(size_t layer, bool homes, StepCost& step, const LayerVisitor& visitor);

  const Placement& placement_;
  const Backend backend_;
  const CostModel model_;
  const ReplicaRule replicas_;
  const Residence residence_;
  const size_t ranks_, gpus_per_node_;
  TallyRule rule_;
  std::vector<std::vector<BranchShares>> shares_;  // [layers][branches]
  // The same for tokens that live anywhere, if the nearest replicas compute.
  std::vector<std::vector<BranchShares>> computes_;
  // Sums of the layer at hand.
  LayerTally tally_, combined_;        // combined_: of tokens that follow
  std::vector<RankWork> dispatch_;     // work of the dispatch, while the combine is looked at
  std::vector<double> count_;          // [branches] tokens that chose it
  std::vector<double> count_of_home_;  // [branches, ranks] the same by home; empty: not known, or not asked for
};

}  // namespace stormcell
