// What placements are judged by: the cost of steps, on the same steps for all of them.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/progress.h"
#include "core/cost/cluster.h"
#include "core/cost/step_cost.h"
#include "core/placement/placed_steps.h"
#include "core/placement/placement.h"
#include "core/placement/step_work.h"
#include "core/planning/step_figures.h"
#include "core/planning/step_loads.h"

namespace stormcell {

/// A row's bytes: a token's hidden state in 16 bits, there and back.
CostModel cost_model_of(const Cluster& cluster, const ModelSizes& sizes);

class StepObjective {
 public:
  /// Cluster and routes must outlive it. Steps of single choices: of the tokens to fit, and of those that judge. Error(bad_input): a
  /// backend that is none.
  StepObjective(const StepOptions& options, const Cluster& cluster, const CostModel& model, const TokenRoutes& routes,
                const std::vector<size_t>& fit, const std::vector<size_t>& held_out);
  /// Steps of counts, `k` choices of a token, 0: not known.
  StepObjective(const StepOptions& options, const Cluster& cluster, const CostModel& model, const SplitLoads& loads, int64_t k);

  /// Empty: there is no such part. Deterministic: each placement is judged on the same steps.
  std::optional<StepFigures> judge(const Placement& placement, bool held_out, const Progress& progress) const;
  /// [steps] seconds of each, in the order of time where they are recorded ones.
  std::vector<double> step_s(const Placement& placement, bool held_out, const Progress& progress) const;
  /// What a search looks at: its memory is linear in both, and a move's time in the tokens.
  static constexpr size_t kMostSearchSteps = 256, kMostSearchTokens = 16384;
  /// A part, or as much of it as has so many tokens, with `start`. The objective must outlive it. There is such a part.
  PlacedSteps placed(const Placement& start, bool held_out = false, size_t most_tokens = kMostSearchTokens) const;
  bool is_drawn() const { return options_.tokens_per_step > 0; }
  bool by_p95() const { return options_.p95; }
  Backend backend() const { return backend_; }
  /// "recorded" or "drawn".
  const char* steps() const { return options_.tokens_per_step > 0 ? "drawn" : "recorded"; }
  int64_t count(bool held_out) const;

 private:
  const StepOptions options_;
  const Cluster& cluster_;
  const CostModel model_;
  const TokenRoutes* routes_ = nullptr;
  Backend backend_;
  double k_ = 1;
  bool k_known_ = true;
  std::vector<std::vector<size_t>> tokens_[2];  // fitted, held out
  std::vector<LayerLoads> loads_[2];
};

/// Of values that are there: the smallest that at least 95 % of them do not exceed.
double percentile_95(std::vector<double> values);

}  // namespace stormcell
