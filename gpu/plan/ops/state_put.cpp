#include "core/graph/roles.h"
#include "gpu/plan/step_nodes.h"

namespace stormcell::gpu {

std::unique_ptr<PlanKernel> plan_state_put(const KernelBuildContext& m) {
  const auto at = extra_input(m.node(), "at");
  return planned("state_put", [at](StepNodes& nodes) {
    const Operand &state = nodes.input(0), &rows = nodes.input(1);
    PutArgs args;
    args.paged = nodes.paged(0);
    args.width = static_cast<int32_t>(state.width);
    args.row_bytes = static_cast<int32_t>(state.row_bytes());
    args.rounds = plan_format(state.dtype) == Format::bf16 && plan_format(rows.dtype) == Format::f32;
    args.ref[PutArgs::kState] = nodes.changes(0);
    args.ref[PutArgs::kRows] = nodes.reads(1);
    args.ref[PutArgs::kCells] = nodes.cells_of(rows, args.ragged);
    if (at) args.ref[PutArgs::kAt] = nodes.reads(*at);
    args.ref[PutArgs::kFailure] = nodes.failure(args.failure);
    const int64_t numbers = nodes.most_rows(rows) * rows.width;
    nodes.add<PutKernel>(args, nodes.blocks(numbers, PutKernel::kThreads));
  });
}

}  // namespace stormcell::gpu
