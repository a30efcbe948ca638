#include "core/verification/observe.h"

namespace stormcell {
namespace {

/// A text may go on where the reference's has ended: such turns decide as its last one did, and are compared with
/// nothing.
void go_on_as_before(const Program& program, const Bindings& bindings, ReplayedDecisions& replayed) {
  for (const RouterId r : replayed.ids()) {
    const ProgramRouter& router = program.routers[r];
    if (router.repeat == kNone || replayed[r].empty()) continue;
    const ReplayedDecision last = replayed[r].back();
    const size_t most = program.dims[router.executions].evaluate(bindings);
    if (replayed[r].size() < most) replayed[r].resize(most, last);
  }
}

}  // namespace

Observed observe(ExperimentState& state, ReadyPlan& plan, const Batch& batch, const Observed* replay,
                 const CellReach* as_reference) {
  ExecuteOptions execute;
  execute.outputs = execute.record = true;
  ReplayedDecisions replayed;
  plan.use(batch.picture);
  const Bindings bindings = plan.bindings(batch);
  if (replay) {
    replayed = choices_to_replay(*plan.program, replay->decisions);
    go_on_as_before(*plan.program, bindings, replayed);
    execute.replayed = &replayed;
  }
  state.run_batch(plan, batch, execute);
  return observed(*plan.program, plan.records->routers, bindings, plan.result, as_reference);
}

}  // namespace stormcell
