// What is run on a batch: one forward pass, or the decoding of new tokens. Everything that profiles, optimises, measures, records and
// verifies asks this for its graph, its plans and its verdict, and knows no difference between the two.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "core/experiment/plan_graphs.h"
#include "core/experiment/state.h"

namespace stormcell {

class Workload {
 public:
  virtual ~Workload() = default;
  Workload(const Workload&) = delete;
  Workload& operator=(const Workload&) = delete;

  Experiment::State& state() const { return state_; }
  const std::string& phase() const { return phase_; }  ///< "forward", "decode"
  int64_t new_tokens() const { return new_tokens_; }   ///< of each sequence, at most; 0: a forward pass
  /// What the passes begin with, in the number format that runs; of a forward pass for the largest pictures.
  virtual std::shared_ptr<const Graph> graph() const = 0;
  /// What a configuration says of the plan beside its passes is said of graph() before them, NAME.KEY=WORD each. Throws Error(bad_input)
  /// that begins with `where`.
  void annotate(const std::vector<std::string>& annotations, const std::string& where);

  /// Throws Error(bad_input) where the plan that the passes left does not fit into memory; warns where its fallbacks do not.
  void check_fits(std::shared_ptr<const Graph> left, const PassConfiguration& configuration, std::vector<std::string>& warnings) const;
  /// `left`: graph() as the passes left it; `configuration`: what they need to do the same again.
  virtual std::unique_ptr<ReadyPlan> make_plan(const std::string& name, std::shared_ptr<const Graph> left,
                                               const PassConfiguration& configuration, const Progress& progress) = 0;
  std::unique_ptr<ReadyPlan> make_baseline(const Progress& progress) { return make_plan("baseline", graph(), {}, progress); }

  /// The plan, and the baseline where it is another, beside the oracle (design 5.1, 5.2). What was decoded is that of plan.decoded.
  virtual Verification verify(ReadyPlan& plan, ReadyPlan* baseline, const Progress& progress) = 0;
  /// How each plan differs from the baseline on one batch, in a sentence; empty: not at all.
  virtual std::vector<std::string> differences_from(ReadyPlan& baseline, const std::vector<std::unique_ptr<ReadyPlan>>& plans,
                                                    int64_t batch) = 0;
  /// What this phase does not do of what was asked for, a sentence each.
  virtual std::vector<std::string> warnings() const { return {}; }

 protected:
  /// The graphs of the phase with these annotations.
  virtual void annotate_graphs(const std::vector<std::string>& annotations, const std::string& where) = 0;
  Workload(Experiment::State& state, std::string phase, int64_t new_tokens)
      : state_(state), phase_(std::move(phase)), new_tokens_(new_tokens) {}
  Experiment::State& state_;
  std::vector<std::string> annotations_;  ///< of a configuration

 private:
  std::string phase_;
  int64_t new_tokens_;
};

/// A batch goes through the model once.
class ForwardPass : public Workload {
 public:
  explicit ForwardPass(Experiment::State& state) : Workload(state, "forward", 0), graph_(state.graph) {}
  std::shared_ptr<const Graph> graph() const override { return graph_; }
  std::unique_ptr<ReadyPlan> make_plan(const std::string& name, std::shared_ptr<const Graph> left, const PassConfiguration& configuration,
                                       const Progress& progress) override;
  Verification verify(ReadyPlan& plan, ReadyPlan* baseline, const Progress& progress) override;
  std::vector<std::string> differences_from(ReadyPlan& baseline, const std::vector<std::unique_ptr<ReadyPlan>>& plans,
                                            int64_t batch) override;

 private:
  void annotate_graphs(const std::vector<std::string>& annotations, const std::string& where) override;
  std::shared_ptr<const Graph> graph_;
};

/// New tokens behind each input, greedily.
class Decoding : public Workload {
 public:
  /// Throws Error(bad_input) where the model cannot generate, or not so many tokens behind inputs of this length.
  explicit Decoding(Experiment::State& state);
  std::shared_ptr<const Graph> graph() const override { return graph_; }
  std::unique_ptr<ReadyPlan> make_plan(const std::string& name, std::shared_ptr<const Graph> left, const PassConfiguration& configuration,
                                       const Progress& progress) override;
  Verification verify(ReadyPlan& plan, ReadyPlan* baseline, const Progress& progress) override;
  /// The same within other times than --verify-seconds, both from the beginning: batches beside the oracle, at least one, then the others
  /// beside the baseline.
  Verification verify_within(double oracle_seconds, double all_seconds, ReadyPlan& plan, ReadyPlan* baseline, const Progress& progress);
  /// Tokens are what a plan computes: where they are the baseline's, it does not differ; where not, the two are judged by their logits.
  std::vector<std::string> differences_from(ReadyPlan& baseline, const std::vector<std::unique_ptr<ReadyPlan>>& plans,
                                            int64_t batch) override;
  std::vector<std::string> warnings() const override;

 private:
  void annotate_graphs(const std::vector<std::string>& annotations, const std::string& where) override;
  std::shared_ptr<const Graph> graph_, with_logits_;
};

/// One for each phase that was asked for, forward first.
std::vector<std::unique_ptr<Workload>> workloads(Experiment::State& state);

}  // namespace stormcell
