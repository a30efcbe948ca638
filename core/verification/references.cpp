#include "core/verification/references.h"

#include <utility>

#include "core/bench/batch_inputs.h"
#include "core/graph/intervened.h"
#include "core/verification/batch_part.h"

namespace stormcell {

std::map<std::string, std::vector<int32_t>> real_cells(const Graph& graph, const Batch& batch) {
  std::map<std::string, std::vector<int32_t>> real;
  for (const NamedValue& o : graph.outputs) {
    if (o.real == kNone) continue;
    real[o.name] = mask_over(graph, graph.value(o.real).type.space, batch, bindings_of(graph, batch, 0));
  }
  return real;
}

void take_forced_as_chosen(const ForcedChoices& forced, int64_t batch, std::vector<JudgedDecision>& decisions) {
  for (JudgedDecision& d : decisions)
    if (!d.free_choice.empty() && forced.forces(batch, d.router, d.execution)) d.free_choice = d.choice;
}

Observed References::running(const Batch& batch) const {
  return run(*work_.judged_graph(batch.picture), batch, work_.state().arithmetic() == Arithmetic::rounds_to_bf16);
}

Observed References::replaying(const Batch& batch, const std::vector<JudgedDecision>& decisions) const {
  return run(*work_.judged_graph(batch.picture), batch, work_.state().arithmetic() == Arithmetic::rounds_to_bf16,
             choices_for_oracle(decisions));
}

Observed References::stored(const Batch& batch) {
  return run(*stored_.at(batch.picture, [this](PictureSize size) { return work_.stored_graph(size); }), batch, false);
}

Observed References::run(const Graph& graph, const Batch& batch, bool round_inputs, OracleReplay replay) const {
  const ExperimentState& s = work_.state();
  OracleOptions options;
  options.off = branches_off(work_.intervention());
  options.capacities = changed_capacities(graph, work_.intervention());
  // Replayed choices of a plan hold the forced ones already.
  const ForcedChoices* forced = work_.forced();
  const bool replays = !replay.empty();
  options.replay = std::move(replay);
  if (forced && !replays && tokens_ > 0) options.forced_executions = forced->choices(batch.index);
  if (forced && !replays && tokens_ == 0)
    for (const auto& [router, executions] : forced->choices(batch.index)) options.forced[router] = executions.front();
  options.threads = s.device->info().host_threads;
  options.cancel = progress_.cancel;
  options.keep_scores = true;
  options.round_inputs = round_inputs;
  const Bindings bindings = bindings_of(graph, batch, tokens_);
  const Oracle<float> oracle(graph, *s.model->weights);
  Observed came = observed(graph, bindings, oracle.run(oracle_inputs(graph, batch), bindings, options),
                           judge_.reach(batch.picture));
  came.real = real_cells(graph, batch);
  came.items = batch.size();
  if (forced) take_forced_as_chosen(*forced, batch.index, came.decisions);
  return came;
}

}  // namespace stormcell
