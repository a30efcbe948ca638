#include "core/graph/roles.h"
#include "gpu/plan/step_nodes.h"

namespace stormcell::gpu {

std::unique_ptr<PlanKernel> plan_positions(const KernelBuildContext& m) {
  const auto from = extra_input(m.node(), "from");
  return planned("positions", [from](StepNodes& nodes) {
    PositionsArgs args;
    args.ref[PositionsArgs::kMask] = nodes.reads(0);
    args.ref[PositionsArgs::kTo] = nodes.writes(0);
    args.ref[PositionsArgs::kCells] = nodes.cells_of(nodes.input(0), args.ragged);
    if (from) args.ref[PositionsArgs::kFrom] = nodes.reads(*from);
    nodes.add<PositionsKernel>(args, nodes.blocks(nodes.most_rows(nodes.input(0)), PositionsKernel::kThreads));
  });
}

}  // namespace stormcell::gpu
