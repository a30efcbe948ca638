// Proves that plans equal their model, in a field: without rounding, in whatever order they sum
// (docs/decisions/064-proof-in-a-field.md, 082).
//
// Each draw has a small batch of its own from the whole field, and choices of its own for the routers. The model runs
// once in each draw, and every plan beside it. Weights are the stored ones; they are converted block by block while a
// product reads them. Nothing here is a formal verification: a wrong plan passes a draw with a probability of about
// d / 2^61 for a polynomial of degree d.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/proof/drawn_choices.h"
#include "core/proof/field_batch.h"
#include "core/proof/plan_places.h"
#include "core/weights/weight_source.h"

namespace stormcell {

/// Draws that a proof has at least, and at most while places have had no cell.
inline constexpr int kLeastDraws = 4, kMostDraws = 16;

struct ProofLimits {
  double seconds = 0;  ///< for all plans of a model together
  int64_t bytes = 0;
  int threads = 1;
};

struct ProofNeeds {
  int64_t bytes = 0;   ///< values in the field at one time, and the largest weight
  double seconds = 0;  ///< of the least number of draws, model and plan
};

/// An estimate for the proof of one plan, before anything ran.
ProofNeeds proof_needs(const Graph& model, const FieldExtents& extents, int threads);

struct ProofOutcome {
  std::optional<bool> equal;  ///< nothing: neither is known
  int draws = 0;              ///< in which the plan was compared
  /// Of routers, or of the plan's guards: a body, and a branch within it, count as one each.
  int64_t branches_without_cells = 0;
  std::string difference;  ///< where it is not equal: in which draw, and what
  std::string reason;      ///< why nothing is known
  ProofNeeds needs;        ///< what the proof would take, where nothing is known
};

/// Proofs of the plans of one model. Model and weights must outlive it.
class PlanProof {
 public:
  /// `extents`: items may be fewer, so that the proof fits into its time.
  PlanProof(std::shared_ptr<const Graph> model, const WeightSource& weights, FieldExtents extents, UsualBranches usual,
            const ProofLimits& limits, const Progress& progress);
  PlanProof(const PlanProof&) = delete;
  PlanProof& operator=(const PlanProof&) = delete;

  /// Throws as the progress says, and as the oracle does for a graph that it cannot compute.
  ProofOutcome prove(const Graph& plan);
  /// Whether about half of the time is left for the draws of one more plan: the other half is for plans to come.
  bool has_time_for_another() const;
  /// Whether a plan differs in the last draw in which any differed. It takes whatever time that takes.
  bool differs_again(const Graph& plan);

 private:
  struct Drawn {
    DrawnBatch batch;
    ForceChoices force;
    OracleResult<Residue> expected;
  };
  const Drawn& drawn(int draw, PlanPlaces* places = nullptr);
  OracleResult<Residue> run(const Graph& graph, const DrawnBatch& batch, const ForceChoices& force);
  std::string difference(const Graph& plan, int draw, PlanPlaces* places = nullptr);
  bool is_time_for(int runs) const;
  bool wants_draw(int draw, PlanPlaces& places) const;

  const std::shared_ptr<const Graph> model_;
  const WeightSource& weights_;
  FieldExtents extents_;
  DrawnChoices choices_;
  const ProofLimits limits_;
  const Progress& progress_;
  ProofNeeds needs_;
  std::vector<Drawn> drawn_;
  int differed_in_ = 0;
  double spent_ = 0, longest_run_ = 0;
};

}  // namespace stormcell
