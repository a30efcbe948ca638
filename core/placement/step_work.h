// What a placement makes each rank do in a step: products and rows sent, from recorded choices or from counts.
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

/// Of one step, all layers together.
struct StepCost {
  LayerCost cost;
  double delivered_rows = 0;  ///< to ranks that are not the token's own: what has to come there, however it travels
  double returned_rows = 0;   ///< the same of what comes back
  double fabric_rows = 0, network_rows = 0;  ///< sent, whatever is forwarded included
  double visits = 0;                         ///< tokens that met a layer
  double seconds() const { return cost.seconds(); }
};

/// What the ranks of a layer do: products and the dispatch; and the dispatch on whose ways back the combine goes: the
/// same one, unless tokens follow.
struct LayerWork {
  std::span<const RankWork> ranks, combined;
  double met = 0;  ///< the chance that a token meets its most met branch: 1 of whole tokens
  HomeCrowding dispatch_homes, combine_homes;
  /// Sets them of tokens that may live anywhere; those that follow do so in the first layer's dispatch alone.
  void crowd(const HomeCrowding& homes, Residence residence, size_t layer);
  /// Some rank reads a whole branch that is met, whichever replica's turn it is: that is the least that the slowest
  /// computes.
  LayerCost cost(const CostModel& model) const;
};
/// `counts`: tokens of each branch.
template <class Count>
double chance_met(std::span<const Count> counts) {
  return counts.empty() ? 0 : std::min<double>(1, *std::max_element(counts.begin(), counts.end()));
}
/// Of each layer in its turn: its number, what the ranks do in it, and its cost. The works are good until the call
/// returns.
using LayerVisitor = std::function<void(size_t layer, const LayerWork& work, const LayerCost& cost)>;

/// Whether each of these tokens says which of the ranks it lives on.
bool homes_known(const TokenRoutes& routes, std::span<const size_t> tokens, int32_t ranks);

/// Replicas of an expert share its tokens evenly, or those that are nearest do: what is sent as if each token went by
/// itself, what is computed by turns; so with replicas figures are expectations. Tokens live where their rank says it;
/// where one does not say, all ranks are equally likely for all of them, and what is sent are expectations; homes'
/// ports are as busy as those of as many ranks as there are tokens. Those that follow begin there.
class StepWork {
 public:
  /// The ranks of a node follow each other; `nodes` divides the ranks.
  /// Where tokens follow, replicas share evenly.
  StepWork(const Placement& placement, int32_t nodes, Backend backend, const CostModel& model,
           ReplicaRule replicas = ReplicaRule::even, Residence residence = Residence::home);

  /// Of these tokens, computed together. The placement has a layer for each of the routes'; where tokens follow, the
  /// first choice of each is the heaviest.
  StepCost of_tokens(const TokenRoutes& routes, std::span<const size_t> tokens, const LayerVisitor& visitor = {});
  /// Of counts, `k` choices of a token. Only for backends per_expert and gather: of the others nobody knows which
  /// choices were one token's.
  StepCost of_loads(const LayerLoads& loads, double k, const LayerVisitor& visitor = {});

 private:
  void begin_layer();
  /// Products of branches of whose tokens the homes are known, where those go to the nearest replicas.
  void add_products_by_home(size_t layer);
  /// Of a token that lives on these ranks, each by its part (none: anywhere), which are then those where it follows to.
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
  // the same of tokens that live anywhere, where the nearest replicas compute
  std::vector<std::vector<BranchShares>> computes_;
  // Of the layer at hand.
  LayerTally tally_, combined_;        // combined_: of tokens that follow
  std::vector<RankWork> dispatch_;     // of them, while the combine is looked at
  std::vector<double> count_;          // [branches] tokens that chose it
  std::vector<double> count_of_home_;  // [branches, ranks] the same by home; empty: not known, or not asked for
};

}  // namespace stormcell
