#include "core/experiment/observe.h"

namespace stormcell {

Observed observe(Experiment::State& state, ReadyPlan& plan, const Batch& batch, const Observed* replay, int64_t new_tokens) {
  ExecuteOptions execute;
  execute.outputs = execute.record = true;
  ReplayedDecisions replayed;
  plan.use(batch.picture);
  if (replay) {
    replayed = choices_to_replay(*plan.program, replay->decisions);
    execute.replayed = &replayed;
  }
  state.run_batch(plan, batch, execute, new_tokens);
  return observed(*plan.program, plan.records->routers, bindings_of(*plan.graph, batch, new_tokens), plan.result);
}

}  // namespace stormcell
