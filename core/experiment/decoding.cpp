// Decoding as a workload: its graphs, and how a plan of it is verified.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/experiment/observe.h"
#include "core/experiment/verify_decoded.h"
#include "core/experiment/workload.h"

namespace stormcell {
namespace {

constexpr int64_t kMostTokens = 16;  // that are verified: the oracle reads all weights for each

double seconds_now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// A plan under judgement: beside it the same one that keeps the logits.
class JudgedDecoding {
 public:
  JudgedDecoding(Experiment::State& state, ReadyPlan& plan, const Graph& reference, int64_t tokens, const Progress& progress)
      : state_(state),
        plan_(plan),
        reference_(reference),
        tokens_(tokens),
        with_logits_(state.make_plan(plan.name() + ", with its logits", plan.judged(), tokens, progress)),
        beside_oracle_(state.tolerance, state.arithmetic(), tokens),
        beside_baseline_(state.tolerance, state.arithmetic(), tokens, "the baseline") {}

  Observed run(const Batch& batch, const Observed* replay) { return observe(state_, *with_logits_, batch, replay); }
  /// Beside an execution of the oracle, or of the baseline, with as many tokens.
  void compare_with_oracle(const Batch& batch, Observed reference) { compare(batch, std::move(reference), beside_oracle_); }
  void compare_with_baseline(const Batch& batch, Observed reference) { compare(batch, std::move(reference), beside_baseline_); }
  Verification beside_oracle() const { return beside_oracle_.verification(); }
  Verification beside_baseline() const { return beside_baseline_.verification(); }

 private:
  void compare(const Batch& batch, Observed reference, DecodedJudge& judge) {
    Observed replayed = run(batch, &reference), free = run(batch, nullptr);
    // One that leaves padding out has decided nothing there.
    if (const auto computed = computed_cells(*with_logits_->graph, reference_, batch); !computed.empty())
      reference.decisions = only_computed(reference.decisions, computed);
    judge.add(batch, std::move(reference), std::move(replayed), std::move(free), first_tokens(batch));
  }
  /// [sequences, tokens] that the plan decoded last.
  std::vector<int32_t> first_tokens(const Batch& batch) {
    if (!plan_.decoded.contains(batch.index)) state_.run_batch(plan_, batch, {});
    const std::vector<int32_t>& all = plan_.decoded.at(batch.index);
    std::vector<int32_t> first;
    for (int64_t i = 0; i < batch.size(); ++i) {
      const auto begin = all.begin() + i * plan_.new_tokens;
      first.insert(first.end(), begin, begin + tokens_);
    }
    return first;
  }

  Experiment::State& state_;
  ReadyPlan& plan_;
  const Graph& reference_;
  int64_t tokens_;
  std::unique_ptr<ReadyPlan> with_logits_;
  DecodedJudge beside_oracle_, beside_baseline_;
};

/// What was found beside the baseline, on batches that the oracle did not come to. What is said of tokens stays the oracle's.
void add_beside_baseline(const Verification& found, Verification& v) {
  for (const std::string& reason : found.reasons) v.reasons.push_back("beside the baseline: " + reason);
  v.max_abs_diff = std::max(v.max_abs_diff, found.max_abs_diff);
  v.max_rel_diff = std::max(v.max_rel_diff, found.max_rel_diff);
  v.free_max_rel_diff = std::max(v.free_max_rel_diff, found.free_max_rel_diff);
  v.flips += found.flips, v.explained_flips += found.explained_flips, v.consequences += found.consequences;
  v.listed.insert(v.listed.end(), found.listed.begin(), found.listed.end());
}

/// The oracle over the first tokens.
class DecodingOracle {
 public:
  DecodingOracle(const Experiment::State& state, std::shared_ptr<const Graph> graph, int64_t tokens, const Progress& progress)
      : state_(state), graph_(std::move(graph)), tokens_(tokens), oracle_(*graph_, *state.model->weights), progress_(progress) {}
  // A turn that a sequence is read of runs for that sequence, whatever the others do.
  Observed run(const Batch& batch) {
    OracleOptions options;
    options.threads = state_.device->info().threads;
    options.cancel = progress_.cancel;
    options.keep_scores = true;
    options.round_inputs = state_.arithmetic() == Arithmetic::rounds_to_bf16;
    const Bindings bindings = bindings_of(*graph_, batch, tokens_);
    return observed(*graph_, bindings, oracle_.run(oracle_inputs(*graph_, batch), bindings, options), reach_);
  }
  const CellReach& reach() const { return reach_; }

 private:
  const Experiment::State& state_;
  std::shared_ptr<const Graph> graph_;
  int64_t tokens_;
  Oracle<float> oracle_;
  const Progress& progress_;
  CellReach reach_ = cell_reach(*graph_, RepeatStop::ignored);
};

}  // namespace

Decoding::Decoding(Experiment::State& state) : Workload(state, "decode", state.options.most_new_tokens) {
  const Experiment::State& s = state;
  if (!s.model->generates) bad_input(s.options.model, "this model cannot generate", "it has no decoder with a head; use run");
  const int64_t most = new_tokens();
  if (most < 1 || most > 1 << 16) bad_input("--max-new-tokens", std::to_string(most), "use 1 to 65536");
  // A decoder's positions end where the model's do; with an encoder before it, it counts from its own beginning.
  const int64_t longest = (s.model->has_encoder ? 0 : s.data->max_length()) + most;
  if (s.model->max_length > 0 && longest > s.model->max_length)
    bad_input("--max-new-tokens",
              counted(most, "token") + (s.model->has_encoder ? "" : " behind an input of " + std::to_string(s.data->max_length())) +
                  (most == 1 ? " is" : " are") + " more than the model's " + counted(s.model->max_length, "position"),
              "choose fewer, or a smaller --length with --truncate");
  graph_ = s.prepared(s.model->generate());
  with_logits_ = s.prepared(s.model->generate_with_logits());
  if (!s.options.annotations.empty()) s.check_annotations(graph_, "--annotate", most);
}

void Decoding::annotate_graphs(const std::vector<std::string>& annotations, const std::string& where) {
  graph_ = annotated(graph_, annotations, where);
  with_logits_ = annotated(with_logits_, annotations, where);
}

std::unique_ptr<ReadyPlan> Decoding::make_plan(const std::string& name, std::shared_ptr<const Graph> left,
                                               const PassConfiguration& configuration, const Progress& progress) {
  auto plan = state_.make_plan(name, plan_graphs(state_, std::move(left), {}), new_tokens(), progress);
  plan->judged = [this, configuration]() -> std::shared_ptr<const Graph> {
    if (configuration.empty()) return with_logits_;
    PipelineResult passed = replay_passes(state_.pass_input(*with_logits_), configuration);
    for (const PassOutcome& outcome : passed.outcomes)
      if (!outcome.cumulative.applied)
        failed("pass " + std::string(outcome.pass->id), "does not apply where the logits are kept: " + outcome.cumulative.reason,
               "leave it out with --disable");
    return std::make_shared<Graph>(std::move(passed.graph));
  };
  return plan;
}

std::vector<std::string> Decoding::warnings() const {
  if (state_.dtype == state_.model->dtype) return {};
  return {
      "what --dtype costs against the stored weights is not measured where tokens are decoded: run and optimize measure it with --phase "
      "forward"};
}

Verification Decoding::verify(ReadyPlan& plan, ReadyPlan* baseline, const Progress& progress) {
  return verify_within(state_.options.verify_seconds, 2 * state_.options.verify_seconds, plan, baseline, progress);
}

Verification Decoding::verify_within(double oracle_seconds, double all_seconds, ReadyPlan& plan, ReadyPlan* baseline,
                                     const Progress& progress) {
  const double begin = seconds_now();
  const int64_t tokens = std::min(new_tokens(), kMostTokens), batches = state_.data->batch_count();
  DecodingOracle oracle(state_, with_logits_, tokens, progress);
  std::vector<std::unique_ptr<JudgedDecoding>> plans;
  plans.push_back(std::make_unique<JudgedDecoding>(state_, plan, *with_logits_, tokens, progress));
  if (baseline && baseline != &plan) plans.push_back(std::make_unique<JudgedDecoding>(state_, *baseline, *with_logits_, tokens, progress));
  int64_t checked = 0;
  for (; checked < batches && (checked == 0 || seconds_now() < begin + oracle_seconds); ++checked) {
    progress.report("verifying against the oracle", checked, batches);
    const Batch batch = state_.data->batch(checked);
    const Observed reference = oracle.run(batch);
    for (const auto& judged : plans) judged->compare_with_oracle(batch, reference);
  }
  Verification v = plans[0]->beside_oracle();
  int64_t more = 0;
  for (; plans.size() > 1 && checked + more < batches && seconds_now() < begin + all_seconds; ++more) {
    progress.report("verifying against the baseline", checked + more, batches);
    const Batch batch = state_.data->batch(checked + more);
    Observed reference = plans[1]->run(batch, nullptr);
    reference.by_item = oracle.reach().by_item;
    plans[0]->compare_with_baseline(batch, std::move(reference));
  }
  if (more > 0) add_beside_baseline(plans[0]->beside_baseline(), v);
  if (plans.size() > 1)
    for (const std::string& reason : plans[1]->beside_oracle().reasons) v.reasons.push_back("the baseline: " + reason);
  v.passed = v.reasons.empty();
  v.batches = checked, v.baseline_batches = more;
  v.text += fmt::format(" ({} of {} batches", checked, batches);
  if (more > 0) v.text += fmt::format(", {} more against the baseline", more);
  v.text += ")";
  v.seconds = seconds_now() - begin;
  return v;
}

std::vector<std::string> Decoding::differences_from(ReadyPlan& baseline, const std::vector<std::unique_ptr<ReadyPlan>>& plans,
                                                    int64_t number) {
  const Progress unseen;
  const Batch batch = state_.data->batch(number);
  state_.run_batch(baseline, batch, {});
  std::vector<std::string> differences(plans.size());
  for (size_t p = 0; p < plans.size(); ++p) {
    state_.run_batch(*plans[p], batch, {});
    if (plans[p]->decoded.at(number) == baseline.decoded.at(number)) continue;
    const int64_t tokens = new_tokens();
    JudgedDecoding reference(state_, baseline, *with_logits_, tokens, unseen), judged(state_, *plans[p], *with_logits_, tokens, unseen);
    Observed came = reference.run(batch, nullptr);
    came.by_item = cell_reach(*with_logits_, RepeatStop::ignored).by_item;
    judged.compare_with_baseline(batch, std::move(came));
    const std::vector<std::string> reasons = judged.beside_baseline().reasons;
    if (!reasons.empty()) differences[p] = reasons.front();
  }
  return differences;
}

}  // namespace stormcell
