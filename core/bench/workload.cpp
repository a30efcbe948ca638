#include "core/bench/workload.h"

#include <algorithm>

#include "core/base/number_format.h"
#include "core/bench/batch_inputs.h"
#include "core/graph/annotation_rules.h"

namespace stormcell {
namespace {

/// Whether rows of a state are rounded, or an annotation keeps a value or weight in a format with more rounding than
/// its type has.
bool keeps_rounded_values(const Graph& graph) {
  return std::any_of(graph.values.begin(), graph.values.end(), [](const Value& v) {
    if (v.kind == ValueKind::state && format_of(v.type.dtype).rounds_rows) return true;
    const DType kept = v.kind == ValueKind::weight ? format_in_products(v) : format_in_memory(v);
    return kept != v.type.dtype &&
           (v.kind == ValueKind::weight ? format_of(kept).own_products : format_of(kept).rounds_rows);
  });
}

}  // namespace

Bindings Workload::bounds() const { return bounds_of(*graph(), *state_.data, new_tokens_, state_.picture); }

std::vector<std::string> Workload::check_annotations(const SaidAnnotations& said) const {
  return stormcell::check_annotations(state_.site(), graph(), bounds(), said);
}

PassInput Workload::pass_input(const LoadProfile& profile) const {
  PassInput input = state_.pass_input(*graph(), profile);
  if (state_.options.weight_budget == 0) return input;
  const std::unique_ptr<WeightStore> asked = asked_weights(state_.site(), graph(), bounds());
  for (const WeightHandle part : asked->parts()) input.parts.insert(asked->key(part).tensor);
  return input;
}

void Workload::check_given() { idle_ = check_annotations({state_.options.annotations, "--annotate"}); }

std::vector<std::string> Workload::annotate(const SaidAnnotations& said) {
  if (said.list.empty()) return {};
  std::vector<std::string> idle = check_annotated_names(state_.phase_graphs(), phase_, said);
  const SaidAnnotations given{state_.options.annotations, "--annotate"};
  for (std::string& sentence : overruled(*graph(), said, given)) idle.push_back(std::move(sentence));
  annotate_graphs(said);
  annotate_graphs(given);
  annotations_ = said.list;
  annotations_.insert(annotations_.end(), given.list.begin(), given.list.end());
  for (std::string& sentence : check_annotations(said)) idle.push_back(std::move(sentence));
  return idle;
}

void Workload::check_fits(std::shared_ptr<const Graph> optimised, const PassConfiguration& configuration,
                          std::vector<std::string>& warnings) const {
  state_.check_fits(plan_graphs(state_, std::move(optimised), configuration, annotations_, thresholds_, intervention_),
                    memory_room(*state_.device), warnings, new_tokens_);
}

Arithmetic Workload::arithmetic() const {
  return keeps_rounded_values(*graph()) ? Arithmetic::rounds_to_bf16 : state_.arithmetic();
}

double Workload::tolerance() const {
  return keeps_rounded_values(*graph()) ? std::max(state_.tolerance, kRoundedTolerance) : state_.tolerance;
}

Arithmetic Workload::arithmetic_beside_baseline(const ReadyPlan& plan) const {
  return plan.promises.same_bits ? arithmetic_beside_itself() : arithmetic();
}

double Workload::tolerance_beside_baseline(const ReadyPlan& plan) const {
  return plan.promises.same_bits ? tolerance_beside_itself() : tolerance();
}

Arithmetic Workload::arithmetic_beside_itself() const { return state_.keeps_bits() ? Arithmetic::f32 : arithmetic(); }

double Workload::tolerance_beside_itself() const { return state_.keeps_bits() ? kF32Tolerance : tolerance(); }

std::vector<std::unique_ptr<Workload>> workloads(ExperimentState& state, const RouterThresholds& thresholds,
                                                 const Intervention& intervention) {
  const std::string& phase = state.options.phase;
  check_phase(phase);
  std::vector<std::unique_ptr<Workload>> list;
  if (work_phase(phase) != WorkPhase::decode)
    list.push_back(std::make_unique<ForwardPass>(state, thresholds, intervention));
  if (work_phase(phase) == WorkPhase::decode)
    list.push_back(std::make_unique<Decoding>(state, thresholds, intervention));
  else if (work_phase(phase) != WorkPhase::forward)
    list.push_back(std::make_unique<Decoding>(state, thresholds));
  return list;
}

}  // namespace stormcell
