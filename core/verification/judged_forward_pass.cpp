// A forward pass as it is judged: by its outputs and by what its routers decided.
#include <utility>

#include "core/verification/flip_items.h"
#include "core/verification/judged_plan.h"

namespace stormcell {
namespace {

/// Beside the oracle and the baseline alike: outputs, and what every router decided.
class JudgedForwardPass final : public JudgedPlan {
 public:
  JudgedForwardPass(const WorkloadJudge& judge, ReadyPlan& plan)
      : JudgedPlan(judge, plan),
        beside_oracle_(work_.tolerance(), work_.arithmetic(), work_.state().nonfinite()),
        beside_baseline_(work_.tolerance_beside_baseline(plan), work_.arithmetic_beside_baseline(plan),
                         work_.state().nonfinite()) {}

  void compare_with_oracle(const Batch& batch, const Observed& reference, FormatJudge* format) override {
    if (goes_elsewhere(batch, reference.decisions)) return;
    Observed replayed = run(batch, &reference);
    if (format) format->add_replayed(replayed.outputs, reference);
    beside_oracle_.add_replayed(batch.index, reference, std::exchange(replayed.outputs, {}));
    const Observed free = run(batch, nullptr);
    const std::vector<JudgedDecision> expected = made_by_plan(batch, reference.decisions);
    if (format) format->add_free(free, reference, expected);
    beside_oracle_.add_free(batch.index, reference, expected, replayed.decisions, &free);
  }

  void compare_with_stored(const Batch& batch, const Observed& stored, FormatJudge& format) override {
    if (goes_elsewhere(batch, stored.decisions)) return;
    format.add_replayed(run(batch, &stored).outputs, stored);
    const Observed free = run(batch, nullptr);
    format.add_free(free, stored, made_by_plan(batch, stored.decisions));
  }

  void compare_part(const Batch& batch, const Observed& reference, const Observed& ours,
                    const std::vector<JudgedDecision>& whole) override {
    beside_oracle_.add_reference_replaying(batch.index, reference, ours, whole);
  }

  /// Runs the plan freely, as it is measured. If it decides as the baseline did, that is a replay; else it replays too.
  void compare_with_baseline(const Batch& batch, Observed reference) override {
    if (goes_elsewhere(batch, reference.decisions)) return;
    reference.decisions = made_by_plan(batch, std::move(reference.decisions));
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

class ForwardPassJudge final : public WorkloadJudge {
 public:
  explicit ForwardPassJudge(Workload& work) : WorkloadJudge(work, RepeatStop::counts) {}
  std::unique_ptr<JudgedPlan> judged(ReadyPlan& plan, int64_t, const Progress&) const override {
    return std::make_unique<JudgedForwardPass>(*this, plan);
  }
  /// Its outputs are what a judge compares.
  bool wrote_alike(ReadyPlan&, ReadyPlan&, const Batch&) const override { return false; }
};

}  // namespace

std::unique_ptr<WorkloadJudge> judge_of_forward_pass(Workload& work) {
  return std::make_unique<ForwardPassJudge>(work);
}

}  // namespace stormcell
