// Decoding as a workload: its graphs and its plans.
#include <algorithm>
#include <optional>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/bench/sampling_options.h"
#include "core/bench/workload.h"
#include "core/graph/intervened.h"
#include "core/graph/router_thresholds.h"

namespace stormcell {
namespace {

void check_can_draw(const Device& device, const std::string& named) {
  const std::vector<std::string_view> operators = device.info().operators;
  if (std::find(operators.begin(), operators.end(), "sample") == operators.end())
    bad_input("--device", named + " draws no tokens",
              "leave out --temperature, --top-k and --top-p, or name another device");
}

}  // namespace

Decoding::Decoding(ExperimentState& state, RouterThresholds thresholds, Intervention intervention)
    : Workload(state, WorkPhase::decode, state.options.most_new_tokens, std::move(thresholds),
               std::move(intervention)) {
  const ExperimentState& s = state;
  if (!s.model->generates)
    bad_input(s.options.model, "this model cannot generate",
              "it has no decoder with a head; use --phase forward, or use run instead of generate");
  const int64_t most = new_tokens();
  if (most < 1 || most > 1 << 16) bad_input("--max-new-tokens", std::to_string(most), "use 1 to 65536");
  // A decoder's positions end where the model's do; with an encoder before it, it counts from its own beginning.
  const int64_t longest = (s.model->has_encoder ? 0 : s.data->max_length()) + most;
  if (s.model->max_length > 0 && longest > s.model->max_length)
    bad_input("--max-new-tokens",
              counted(most, "token") +
                  (s.model->has_encoder ? "" : " behind an input of " + std::to_string(s.data->max_length())) +
                  (most == 1 ? " is" : " are") + " more than the model's " + counted(s.model->max_length, "position"),
              "choose fewer, or a smaller --length with --truncate");
  const std::optional<SamplingRule> sampling = sampling_of(s.options);
  if (sampling) check_can_draw(*s.device, s.options.device);
  const auto plain = with_thresholds(s.prepared(s.model->generate({.sampling = sampling})), thresholds_),
             logits = with_thresholds(s.prepared(s.model->generate_with_logits(sampling)), thresholds_);
  if (!intervention_.empty()) check_intervention(*plain, intervention_);
  graph_ = intervened(plain, intervention_);
  with_logits_ = intervened(logits, intervention_);
  judged_ = for_oracle(logits, intervention_);
  if (!intervention_.force.empty()) forced_ = std::make_shared<ForcedChoices>(intervention_, *graph_, *s.data, most);
  check_given();
}

void Decoding::annotate_graphs(const SaidAnnotations& said) {
  graph_ = annotated(graph_, said);
  with_logits_ = annotated(with_logits_, said);
  judged_ = annotated(judged_, said);
}

std::shared_ptr<const Graph> Decoding::stored_graph(PictureSize) const {
  return for_oracle(state_.model->generate_with_logits(sampling_of(state_.options)), intervention_);
}

std::unique_ptr<ReadyPlan> Decoding::make_plan(const std::string& name, std::shared_ptr<const Graph> optimised,
                                               const PassConfiguration& configuration, const Progress& progress) {
  auto plan = state_.make_plan(name, plan_graphs(state_, std::move(optimised), {}), new_tokens(), progress,
                               KeepScores::as_asked, turns_);
  plan->forced = forced_;
  plan->judged = [this, configuration]() -> std::shared_ptr<const Graph> {
    if (configuration.empty()) return with_logits_;
    return replay_or_fail(state_.pass_input(*with_logits_), configuration, "does not apply where the logits are kept");
  };
  return plan;
}

int64_t Decoding::cells(const ReadyPlan& plan, int64_t batch) const {
  const std::vector<int32_t>& tokens = plan.decoded.at(batch);
  return count_written(tokens);
}

}  // namespace stormcell
