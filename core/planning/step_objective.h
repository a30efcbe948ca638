// The objective of placements: the cost of steps, on the same steps for all of them.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/base/progress.h"
#include "core/base/step_terms.h"
#include "core/cost/cluster.h"
#include "core/cost/layer_cost.h"
#include "core/cost/row_curve.h"
#include "core/placement/placed_steps.h"
#include "core/placement/placement.h"
#include "core/placement/step_work.h"
#include "core/planning/step_figures.h"
#include "core/planning/step_loads.h"
#include "core/profile/token_routes.h"

namespace stormcell {

/// A row's bytes: a token's hidden state in 16 bits, there and back. `oversubscription`: what the network ports of a
/// node could send / what its uplink carries; 1: uplinks do not bind.
CostModel cost_model_of(const Cluster& cluster, const ModelSizes& sizes, double oversubscription = 1);

/// Every n-th token of a step; of counts an equal share.
struct MicroBatch {
  size_t index = 0, count = 1;
};

class StepObjective {
 public:
  /// Cluster and routes must outlive it. Steps of single choices: of the tokens to fit, and of those that judge. A
  /// recorded step that has tokens on both sides is filled up on each, by tokens drawn from that side: a step of some
  /// of its tokens would be another, cheaper one. Error(bad_input): a backend, a rule of replicas or a residence that
  /// is none, or that the data cannot have. If options say a capacity, all that follows counts the choices that it
  /// leaves.
  StepObjective(const StepOptions& options, const Cluster& cluster, const CostModel& model, const SplitRoutes& routes,
                const TokenParts& parts);
  /// Steps of counts, `k` choices of a token, 0: not known.
  StepObjective(const StepOptions& options, const Cluster& cluster, const CostModel& model, const SplitLoads& loads,
                int64_t k);

  /// Empty: there is no such part. Deterministic: each placement is judged on the same steps.
  std::optional<StepFigures> mean_step(const Placement& placement, DataPart part, const Progress& progress) const;
  /// [steps] seconds of each, in the order of time where they are recorded ones.
  std::vector<double> step_s(const Placement& placement, DataPart part, const Progress& progress) const;
  /// The work of steps under a placement, one after the other, for cost_of_step(). The placement must outlive it.
  StepWork work_of(const Placement& placement) const {
    return {placement, cluster_.nodes, backend_, model_, replicas_, residence_};
  }
  /// `step` of a part, or one of its micro-batches. `visitor` sees its layers.
  StepCost cost_of_step(StepWork& work, DataPart part, size_t step, MicroBatch micro = {},
                        const LayerVisitor& visitor = {}) const;
  /// Limits of a search: its memory is linear in both, and the time of a move in the tokens.
  static constexpr size_t kMostSearchSteps = 256, kMostSearchTokens = 16384;
  /// A part, or as much of it as has so many tokens, with `start`. The objective must outlive it. There is such a part.
  PlacedSteps placed(const Placement& start, DataPart part = DataPart::fitted,
                     size_t most_tokens = kMostSearchTokens) const {
    return placed_by(replicas_, start, part, most_tokens);
  }
  /// The same by another rule of replicas: even shares are counted much faster than the nearest ones.
  PlacedSteps placed_by(ReplicaRule replicas, const Placement& start, DataPart part = DataPart::fitted,
                        size_t most_tokens = kMostSearchTokens) const;
  /// Number of homes from which each token is counted: all ranks if it lives anywhere and goes to the nearest replicas.
  size_t homes_of_token() const;
  /// Whether placed() looks at every token of the part to fit, by default.
  bool search_sees_all() const;
  bool is_drawn() const { return options_.tokens_per_step > 0; }
  bool by_p95() const { return options_.p95; }
  Backend backend() const { return backend_; }
  ReplicaRule replicas() const { return replicas_; }
  Residence residence() const { return residence_; }
  StepSource steps() const {
    return options_.tokens_per_step > 0 ? StepSource::drawn
           : filled_ > 0                ? StepSource::filled_up
                                        : StepSource::recorded;
  }
  /// Filled-up steps of both parts.
  int64_t filled_steps() const { return filled_; }
  /// Choices that the capacity of the options drops from a part.
  const CapacityFigures& capacity(DataPart part) const { return capacity_[part]; }
  /// [steps] the tokens of each costed one, of routes(); empty where there are counts.
  const TokenSteps& tokens(DataPart part) const { return tokens_[part]; }
  const CostModel& model() const { return model_; }
  void set_model(const CostModel& model) { model_ = model; }
  /// Null: steps are counts.
  const TokenRoutes* routes() const { return routes_; }
  const LayerLoads& loads_of_step(DataPart part, size_t step) const { return loads_[part][step]; }
  /// Choices of a token; 1 where they are not known.
  double choices() const { return k_; }
  int64_t count(DataPart part) const;
  /// Mean tokens of a step to fit, even if a layer sees fewer. With counts alone: of the layer that most met, before a
  /// capacity drops any. Null: not known.
  std::optional<double> mean_tokens() const;
  /// The fewest and the most rows that a branch gets which gets any, in a layer of any step of both parts; null: none
  /// gets any.
  std::optional<RowRange> row_range() const;

 private:
  TokenSteps searched_tokens(DataPart part, size_t most_tokens) const;

  const StepOptions options_;
  const Cluster& cluster_;
  CostModel model_;
  std::shared_ptr<const TokenRoutes> capped_routes_;  // shared by copies, which point to it
  const TokenRoutes* routes_ = nullptr;
  Backend backend_;
  ReplicaRule replicas_;
  Residence residence_ = Residence::home;
  int64_t filled_ = 0;
  double k_ = 1;
  bool k_known_ = true;
  double counted_tokens_ = 0;  // tokens of a mean step to fit, if steps are counts
  OfParts<TokenSteps> tokens_;
  OfParts<std::vector<LayerLoads>> loads_;
  OfParts<CapacityFigures> capacity_;
};

}  // namespace stormcell
