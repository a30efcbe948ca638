// A forward pass as a workload: its plans, and how they are compared.
#include <utility>

#include "core/experiment/flip_items.h"
#include "core/experiment/judged_plan.h"
#include "core/experiment/workload.h"

namespace stormcell {
namespace {

/// Beside the oracle and the baseline alike: outputs, and what every router decided.
class JudgedForwardPass final : public JudgedPlan {
 public:
  JudgedForwardPass(Workload& work, ReadyPlan& plan)
      : JudgedPlan(work, plan),
        beside_oracle_(work.tolerance(), work.arithmetic(), work.state().nonfinite()),
        beside_baseline_(work.tolerance_beside_baseline(plan), work.arithmetic_beside_baseline(plan), work.state().nonfinite()) {}

  void compare_with_oracle(const Batch& batch, const Observed& reference, FormatJudge* format) override {
    if (goes_elsewhere(batch, reference.decisions)) return;
    Observed replayed = run(batch, &reference);
    if (format) format->add_replayed(replayed.outputs, reference);
    beside_oracle_.add_replayed(batch.index, reference, std::exchange(replayed.outputs, {}));
    const Observed free = run(batch, nullptr);
    const auto some = made_by_plan(batch, reference.decisions);
    const std::vector<JudgedDecision>& expected = some ? *some : reference.decisions;
    if (format) format->add_free(free, reference, expected);
    beside_oracle_.add_free(batch.index, reference, expected, replayed.decisions, &free);
  }

  void compare_with_stored(const Batch& batch, const Observed& stored, FormatJudge& format) override {
    if (goes_elsewhere(batch, stored.decisions)) return;
    format.add_replayed(run(batch, &stored).outputs, stored);
    const Observed free = run(batch, nullptr);
    const auto some = made_by_plan(batch, stored.decisions);
    format.add_free(free, stored, some ? *some : stored.decisions);
  }

  void compare_part(const Batch& batch, const Observed& reference, const Observed& ours,
                    const std::vector<JudgedDecision>& whole) override {
    beside_oracle_.add_reference_replaying(batch.index, reference, ours, whole);
  }

  /// Freely, as it is measured. Where it decides as the baseline did, that is a replay; else it replays too.
  void compare_with_baseline(const Batch& batch, Observed reference) override {
    if (goes_elsewhere(batch, reference.decisions)) return;
    if (auto some = made_by_plan(batch, reference.decisions)) reference.decisions = std::move(*some);
    Observed free = run(batch, nullptr);
    if (!decided_alike(reference.decisions, free.decisions)) {
      beside_baseline_.add(batch.index, reference, run(batch, &reference), &free);
      return;
    }
    for (JudgedDecision& d : free.decisions) d.free_choice = d.choice;
    beside_baseline_.add(batch.index, reference, free, &free);
  }

  Verification verdict() const override {
    Verification v = beside_oracle_.verdict();
    add_found("beside the baseline", beside_baseline_.verdict(), v);
    add_elsewhere(v);
    name_items(*work_.state().data, v.listed);
    return v;
  }
  std::vector<std::string> differences() const override {
    Verification v = beside_baseline_.verdict();
    add_elsewhere(v);
    return v.reasons;
  }

 private:
  Judge beside_oracle_, beside_baseline_;
};

}  // namespace

ForwardPass::ForwardPass(ExperimentState& state) : Workload(state, WorkPhase::forward, 0, RepeatStop::counts), graph_(state.graph) {
  check_given();
}

std::unique_ptr<ReadyPlan> ForwardPass::make_plan(const std::string& name, std::shared_ptr<const Graph> left,
                                                  const PassConfiguration& configuration, const Progress& progress) {
  return state_.make_plan(name, plan_graphs(state_, std::move(left), configuration, annotations_), 0, progress);
}

void ForwardPass::annotate_graphs(const SaidAnnotations& said) { graph_ = annotated(graph_, said); }

std::unique_ptr<JudgedPlan> ForwardPass::judged(ReadyPlan& plan, int64_t, const Progress&) {
  return std::make_unique<JudgedForwardPass>(*this, plan);
}

}  // namespace stormcell
