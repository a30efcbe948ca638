// Proves the plans of an optimisation before they are measured, and names the pass whose plan is not equal.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "core/bench/workload.h"
#include "core/passes/pipeline.h"
#include "core/proof/plan_proof.h"
#include "core/summary/verification_figures.h"

namespace stormcell {

class ProvedPlans {
 public:
  /// `seconds`: for all proofs together. The profile is asked which branches are usual.
  ProvedPlans(Workload& work, const LoadProfile& profile, double seconds, const Progress& progress)
      : work_(work), profile_(profile), seconds_(seconds), progress_(progress) {}

  /// Proves the plan of all passes together, then the others that are measured, in about half of the time. Returns the
  /// first pass whose plan, upon those before it or alone, is not equal to the model; nothing: none has to be left out.
  std::optional<std::string> prove(const PipelineResult& passed);
  /// Nothing: no pass applied, so that there was no plan to prove.
  const std::optional<ExactProof>& proof() const { return proof_; }

 private:
  void open(const PipelineResult& passed);
  std::shared_ptr<const Graph> graph_of(const Graph* plan, const PassConfiguration& configuration) const;
  std::shared_ptr<const Graph> graph_after(const PipelineResult& passed, size_t passes) const;
  bool another_differs(const Graph& plan);
  std::optional<std::string> prove_others(const PipelineResult& passed);
  std::optional<std::string> blamed(const PipelineResult& passed);

  Workload& work_;
  const LoadProfile& profile_;
  const double seconds_;
  const Progress& progress_;
  PictureSize size_;  // of the pictures that are drawn; 0x0: none
  std::shared_ptr<const Graph> model_;
  std::unique_ptr<PlanProof> proofs_;
  std::optional<ExactProof> proof_;
};

}  // namespace stormcell
