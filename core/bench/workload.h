// A workload is what runs on a batch: one forward pass, or the decoding of new tokens. Everything that profiles,
// optimises, measures, records and verifies asks it for its graph and its plans, and knows no difference between the
// two.
// workload_judge.h judges its plans.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "core/base/run_kind.h"
#include "core/bench/forced_choices.h"
#include "core/bench/plan_graphs.h"
#include "core/bench/state.h"
#include "core/cell/intervention.h"
#include "core/cell/router_threshold.h"

namespace stormcell {

class Workload {
 public:
  virtual ~Workload() = default;
  Workload(const Workload&) = delete;
  Workload& operator=(const Workload&) = delete;

  ExperimentState& state() const { return state_; }
  WorkPhase phase() const { return phase_; }          ///< forward or decode
  int64_t new_tokens() const { return new_tokens_; }  ///< tokens of each sequence, at most; 0: a forward pass
  /// Thresholds of exits, which its plans and the oracle that judges them have in the place of the model's own. Empty:
  /// the model's own.
  const RouterThresholds& thresholds() const { return thresholds_; }
  /// Changes of the routing beside those thresholds; its plans and the oracle have the same.
  const Intervention& intervention() const { return intervention_; }
  /// Choices that plans and oracle are given; null: none.
  const ForcedChoices* forced() const { return forced_.get(); }
  /// The graph that passes begin with, in the number format that runs; for a forward pass that of the largest pictures.
  virtual std::shared_ptr<const Graph> graph() const = 0;
  /// Annotates graph() with what a configuration says of the plan beside its passes, NAME.KEY=WORD each. Throws
  /// Error(bad_input) that begins with `where`. Returns a sentence for each that only the other phase has a name for.
  /// Annotations of the command line (--annotate) overrule them.
  std::vector<std::string> annotate(const SaidAnnotations& said);
  /// All annotations of graph() in their order: if two name the same, the later one holds.
  const std::vector<std::string>& annotations() const { return annotations_; }
  /// The input of passes: graph(), which is held until the workload is annotated, and a profile, which must outlive it.
  PassInput pass_input(const LoadProfile& profile) const;
  /// A sentence for each of --annotate that changes nothing in this phase.
  const std::vector<std::string>& idle_annotations() const { return idle_; }

  /// Throws Error(bad_input) where the plan that the passes left does not fit into memory; warns where its fallbacks do
  /// not.
  void check_fits(std::shared_ptr<const Graph> optimised, const PassConfiguration& configuration,
                  std::vector<std::string>& warnings) const;
  /// graph(), and the same for pictures of other sizes.
  GraphOfSize graph_of_size() const {
    return plan_graphs(state_, graph(), {}, annotations_, thresholds_, intervention_);
  }
  /// `optimised`: graph() as the passes left it; `configuration`: what they need to do the same again.
  virtual std::unique_ptr<ReadyPlan> make_plan(const std::string& name, std::shared_ptr<const Graph> optimised,
                                               const PassConfiguration& configuration, const Progress& progress) = 0;
  std::unique_ptr<ReadyPlan> make_baseline(const Progress& progress) {
    return make_plan("baseline", graph(), {}, progress);
  }

  /// The cells that a batch counts: its own without padding, or the tokens that a plan decoded of it.
  virtual int64_t cells(const ReadyPlan& plan, int64_t batch) const = 0;
  /// `cells`: cells a second.
  virtual void set_rates(double cells, PlanFigures& figures) const { figures.cells_per_s = cells; }

  // How its plans are verified (workload_judge.h):
  /// Whether anything rounds to bf16: products on this device, states that the graph keeps in bf16, or values that an
  /// annotation stores in bf16. The oracle rounds states too, but a value halfway between two numbers may go either
  /// way. The oracle ignores annotations.
  Arithmetic arithmetic() const;
  /// How far outputs may lie from the oracle's, as a share of the largest value.
  double tolerance() const;
  /// The rules beside the baseline. Both round alike, so a plan that promises the same bits is held to f32, if the
  /// device keeps bits. Any other plan is held to tolerance(): one last bit that differs can round the other way.
  Arithmetic arithmetic_beside_baseline(const ReadyPlan& plan) const;
  double tolerance_beside_baseline(const ReadyPlan& plan) const;
  /// The rules for a plan that runs once more with further outputs, beside itself: f32 if the device keeps bits.
  Arithmetic arithmetic_beside_itself() const;
  double tolerance_beside_itself() const;
  /// The graphs that the oracle runs in the place of a plan, for pictures of a size: in the number format that runs,
  /// and as the model is stored.
  virtual std::shared_ptr<const Graph> judged_graph(PictureSize size) const = 0;
  virtual std::shared_ptr<const Graph> stored_graph(PictureSize size) const = 0;

 protected:
  /// The graphs of the phase with these annotations.
  virtual void annotate_graphs(const SaidAnnotations& said) = 0;
  /// Checks what --annotate says of graph(), once that is there; throws if the device has no kernel for it.
  void check_given();
  Workload(ExperimentState& state, WorkPhase phase, int64_t new_tokens, RouterThresholds thresholds,
           Intervention intervention = {})
      : state_(state),
        annotations_(state.options.annotations),
        thresholds_(std::move(thresholds)),
        intervention_(std::move(intervention)),
        phase_(phase),
        new_tokens_(new_tokens) {}
  ExperimentState& state_;
  std::vector<std::string> annotations_;  ///< those of a configuration, then --annotate's
  const RouterThresholds thresholds_;
  const Intervention intervention_;
  std::shared_ptr<const ForcedChoices> forced_;

 private:
  Bindings bounds() const;
  std::vector<std::string> check_annotations(const SaidAnnotations& said) const;
  std::vector<std::string> idle_;
  WorkPhase phase_;
  int64_t new_tokens_;
};

/// A batch goes through the model once.
class ForwardPass : public Workload {
 public:
  /// `thresholds`: as Workload::thresholds() has them. Throws Error(bad_input) where the intervention does not fit the
  /// model, or its choices the data.
  explicit ForwardPass(ExperimentState& state, RouterThresholds thresholds = {}, Intervention intervention = {});
  std::shared_ptr<const Graph> graph() const override { return graph_; }
  std::unique_ptr<ReadyPlan> make_plan(const std::string& name, std::shared_ptr<const Graph> optimised,
                                       const PassConfiguration& configuration, const Progress& progress) override;
  int64_t cells(const ReadyPlan&, int64_t batch) const override { return state_.data->real_cells(batch); }
  std::shared_ptr<const Graph> judged_graph(PictureSize size) const override;
  std::shared_ptr<const Graph> stored_graph(PictureSize size) const override;

 private:
  void annotate_graphs(const SaidAnnotations& said) override;
  std::shared_ptr<const Graph> graph_;
  mutable BySize<std::shared_ptr<const Graph>> judged_;  // with what was changed for the oracle too, if anything was
};

/// New tokens behind each input, greedily or as the options say.
class Decoding : public Workload {
 public:
  /// Throws Error(bad_input) where the model cannot generate, or not so many tokens behind inputs of this length.
  /// `thresholds`: as Workload::thresholds() has them. The intervention applies to the prompt and to each turn.
  explicit Decoding(ExperimentState& state, RouterThresholds thresholds = {}, Intervention intervention = {});
  std::shared_ptr<const Graph> graph() const override { return graph_; }
  std::unique_ptr<ReadyPlan> make_plan(const std::string& name, std::shared_ptr<const Graph> optimised,
                                       const PassConfiguration& configuration, const Progress& progress) override;
  int64_t cells(const ReadyPlan& plan, int64_t batch) const override;
  void set_rates(double cells, PlanFigures& figures) const override {
    figures.cells_per_s = cells, figures.tokens_per_s = cells;
  }
  /// Both keep the logits: tokens alone hide what is wrong.
  std::shared_ptr<const Graph> judged_graph(PictureSize) const override { return judged_; }
  std::shared_ptr<const Graph> stored_graph(PictureSize) const override;
  /// Plans that are made from here on tell of their tokens turn by turn, on a device that can leave a repeat.
  void end_turns() { turns_ = HostTurns::each; }

 private:
  void annotate_graphs(const SaidAnnotations& said) override;
  HostTurns turns_ = HostTurns::none;
  std::shared_ptr<const Graph> graph_, with_logits_, judged_;
};

/// One for each phase that was asked for, forward first; with these thresholds of exits, where there are any, and with
/// this intervention, which the forward pass alone has if both were asked for.
std::vector<std::unique_ptr<Workload>> workloads(ExperimentState& state, const RouterThresholds& thresholds = {},
                                                 const Intervention& intervention = {});

}  // namespace stormcell
