// What a placement makes each rank do in a step: products and rows sent, from recorded choices or from counts.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "core/cost/step_cost.h"
#include "core/placement/placement.h"
#include "core/profile/token_routes.h"

namespace stormcell {

/// Of one step, all layers together.
struct StepCost {
  LayerCost cost;
  double delivered_rows = 0;                 ///< to ranks that are not the token's own: what has to come there, however it travels
  double fabric_rows = 0, network_rows = 0;  ///< sent, whatever is forwarded included
  double visits = 0;                         ///< tokens that met a layer
  double seconds() const { return cost.seconds(); }
};

/// Replicas of an expert share its tokens evenly, each token independently, so with replicas figures are expectations. Tokens live where
/// their rank says it; where one does not say, all ranks are equally likely for all of them, and what is sent are expectations.
class StepWork {
 public:
  /// The ranks of a node follow each other; `nodes` divides the ranks.
  StepWork(const Placement& placement, int32_t nodes, Backend backend, const CostModel& model);

  /// Of these tokens, computed together. The placement has a layer for each of the routes'.
  StepCost of_tokens(const TokenRoutes& routes, std::span<const size_t> tokens);
  /// Of counts [layers][branches], which need not be whole; `k` choices of a token. Only for backends per_expert and gather: of the others
  /// nobody knows which choices were one token's.
  StepCost of_loads(const std::vector<std::vector<double>>& loads, double k);

 private:
  struct Share {
    size_t rank;
    double part;  ///< of the branch's tokens
  };
  void begin_layer();
  void add_token(size_t layer, std::span<const int32_t> choices, int32_t home);
  void count_delivered(int32_t home);
  void add_remote(size_t rank, double rows, int32_t home);
  void add_by_node(int32_t home);
  void add_everywhere(int32_t home, double tokens);
  void spread_homes();
  void add_products(size_t layer);
  void end_layer(StepCost& step);
  size_t node(size_t rank) const { return rank / each_; }

  const Placement& placement_;
  const Backend backend_;
  const CostModel model_;
  const size_t ranks_, each_;                            // GPUs of a node
  std::vector<std::vector<std::vector<Share>>> shares_;  // [layers][branches]
  // Of the layer at hand.
  std::vector<RankWork> work_;
  std::vector<double> count_;         // [branches] tokens that chose it
  std::vector<double> unknown_;       // [ranks] rows that come from tokens that live anywhere
  std::vector<double> unknown_node_;  // [nodes] of per_node, rows over the network likewise
  double unknown_tokens_ = 0;
  double visits_ = 0, delivered_ = 0;
  // Of the token at hand.
  std::vector<double> copies_, absent_, absent_node_;
  std::vector<size_t> touched_, touched_nodes_;
};

}  // namespace stormcell
