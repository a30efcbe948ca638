#include "gpu/plan/move_nodes.h"

namespace stormcell::gpu {

std::unique_ptr<PlanKernel> plan_zeros(const KernelBuildContext&) {
  return planned("zeros", [](StepNodes& nodes) {
    MoveArgs args = moving(nodes.output(0), nodes.output(0));
    args.map = RowMap::fill;
    add_move(nodes, args, nodes.most_rows(nodes.output(0)), {nodes.writes(0)});
  });
}

}  // namespace stormcell::gpu
