#include "gpu/plan/move_nodes.h"

namespace stormcell::gpu {

std::unique_ptr<PlanKernel> plan_state_write(const KernelBuildContext&) {
  return planned("state_write", [](StepNodes& nodes) {
    MoveArgs args = moving(nodes.input(1), nodes.input(0));
    args.ref[MoveArgs::kFrom] = nodes.reads(1);
    add_move(nodes, args, nodes.most_rows(nodes.input(0)), {nodes.changes(0)});
  });
}

}  // namespace stormcell::gpu
