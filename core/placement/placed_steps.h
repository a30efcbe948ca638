// The cost of steps under a placement that changes by single moves: a move is costed by the tokens and steps that it
// touches, however many there are beside them. Searches ask for it thousands of times a second, and a hand that drags
// an expert sixty times.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/placement/branch_index.h"
#include "core/placement/placement.h"
#include "core/placement/step_work.h"
#include "core/profile/token_routes.h"

namespace stormcell {

/// Steps under a placement that changes. Every branch must stand somewhere; slots may be empty (-1).
class PlacedSteps {
 public:
  /// Steps of single choices; the routes must outlive it. `start` has a layer for each of the routes' and no fault.
  /// Replicas and residence as StepWork has them.
  PlacedSteps(const TokenRoutes& routes, const std::vector<std::vector<size_t>>& steps, Placement start, int32_t nodes,
              Backend backend, const CostModel& model, ReplicaRule replicas = ReplicaRule::even,
              Residence residence = Residence::home);
  /// Steps of counts, `k` choices of a token: for backends per_expert and gather.
  PlacedSteps(const std::vector<LayerLoads>& steps, double k, Placement start, int32_t nodes, Backend backend,
              const CostModel& model, ReplicaRule replicas = ReplicaRule::even);

  const Placement& placement() const { return placement_; }
  size_t steps() const { return step_s_.size(); }
  double step_s(size_t step) const { return step_s_[step]; }
  double mean_s() const;
  double p95_s() const;
  double layer_s(size_t layer) const;  ///< mean over steps

  /// The rank that takes longest in a layer of a step, by itself: moves elsewhere seldom make the layer cheaper.
  size_t slowest_rank(size_t step, size_t layer);

  bool holds(size_t layer, size_t rank, int32_t branch) const;
  size_t rank_of(size_t slot) const { return slot / slots_per_rank_; }
  size_t replicas(size_t layer, int32_t branch) const { return shares_[layer][branch].size(); }
  /// Whether the two slots may swap: no branch would be twice on a rank. False within a rank: that changes nothing.
  bool may_swap(size_t layer, size_t slot, size_t other) const;
  /// Whether `branch` may take this slot: it is not on the rank yet, and what the slot holds stands elsewhere too.
  bool may_replicate(size_t layer, int32_t branch, size_t slot) const;

  // Each expects that the change is allowed. The content of a slot gives way to what it gets.
  void swap(size_t layer, size_t slot, size_t other);
  void replicate(size_t layer, int32_t branch, size_t slot);
  /// Changes any slots of one layer at a time, each once; every branch must stand somewhere afterwards.
  void apply(std::span<const SlotChange> changes);
  /// All slots of a layer at a time.
  void set_layer(size_t layer, const LayerSlots& slots);

 private:
  struct Visit {
    uint32_t step, token;  // token of the routes
  };
  PlacedSteps(Placement start, int32_t nodes, Backend backend, const CostModel& model, ReplicaRule replicas,
              Residence residence, size_t steps);
  size_t at(size_t step, size_t layer) const { return step * shares_.size() + layer; }
  void begin();
  void add_branch(size_t layer, int32_t branch, double sign);
  /// Moves the branch to where next_ says.
  void move_branch(size_t layer, int32_t branch);
  /// Adds what the ranks of a branch compute of it in every step, and what is sent for it if counts tell that.
  void add_products(size_t layer, size_t branch, double sign);
  /// Adds what a token makes the ranks send in a layer: there and, if it follows, back.
  void add_token(Visit visit, size_t layer, double sign);
  /// Adds the way there, from where the token lives by then.
  void add_dispatch(Visit visit, size_t layer, double sign);
  /// Adds dispatches of later layers that leave from where the token's first choice of this layer lies.
  void add_onward(Visit visit, size_t layer, double sign);
  void touch(size_t step, size_t layer);
  /// Good until the next call.
  LayerWork work_of(size_t step, size_t layer);
  /// Finds the ranks that hold a branch, after slots have changed.
  void renew(size_t layer, int32_t branch);
  /// Adds all tokens of a layer anew: if many branches change, each token would be taken away and added for each of its
  /// choices.
  void rebuild(size_t layer);
  void cost_touched();

  Placement placement_;
  const Backend backend_;
  const CostModel model_;
  const ReplicaRule replicas_;
  const Residence residence_;
  const size_t slots_per_rank_, gpus_per_node_;
  TallyRule rule_;
  const TokenRoutes* routes_ = nullptr;
  bool by_token_ = false;  // traffic depends on the placement by whole tokens, else by counts alone
  std::vector<std::vector<BranchShares>> shares_;  // [layers][branches]
  std::vector<LayerTally> tally_;                  // [steps, layers]
  std::vector<LayerTally> combined_;  // [steps, layers] on whose ways back tokens come that follow; else empty
  std::vector<float> count_;          // [steps, layers, branches]
  std::vector<double> met_;           // [steps, layers] as in LayerWork: no move changes it
  std::vector<double> tokens_;        // [steps, layers] that meet the layer
  std::vector<uint8_t> homes_;        // [steps] where their tokens live is known
  BranchIndex<Visit> visits_;         // by step
  std::vector<Visit> members_;        // members of all steps
  std::vector<double> layer_cost_;    // [steps, layers]
  std::vector<double> step_s_;
  double sum_s_ = 0;
  std::vector<size_t> touched_;  // at(step, layer)
  std::vector<uint8_t> is_touched_;
  BranchShares next_;
  std::vector<double> count_of_home_;  // [ranks] of the branch and step at hand
  std::vector<RankWork> dispatch_;     // while the combine is looked at
};

}  // namespace stormcell
