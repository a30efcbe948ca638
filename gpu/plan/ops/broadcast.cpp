#include "gpu/plan/move_nodes.h"

namespace stormcell::gpu {

std::unique_ptr<PlanKernel> plan_broadcast(const KernelBuildContext&) {
  return planned("broadcast", [](StepNodes& nodes) {
    MoveArgs args = moving(nodes.input(0), nodes.output(0));
    args.map = RowMap::by_parent;
    args.ref[MoveArgs::kFrom] = nodes.reads(0);
    args.ref[MoveArgs::kTell] = nodes.cells_of(nodes.output(0), args.ragged);
    add_move(nodes, args, nodes.most_rows(nodes.output(0)), {nodes.writes(0)});
  });
}

}  // namespace stormcell::gpu
