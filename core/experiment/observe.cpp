#include "core/experiment/observe.h"

namespace stormcell {

Observed observe(Experiment::State& state, ReadyPlan& plan, const Batch& batch, const Observed* replay) {
  ExecuteOptions execute;
  execute.outputs = execute.record = true;
  ReplayedDecisions replayed;
  plan.use(batch.picture);
  if (replay) {
    replayed = choices_to_replay(*plan.program, replay->decisions);
    execute.replayed = &replayed;
  }
  state.run_batch(plan, batch, execute);
  return observed(*plan.program, plan.records->routers, bindings_of(*plan.graph, batch, plan.new_tokens), plan.result);
}

}  // namespace stormcell
