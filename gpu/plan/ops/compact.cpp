#include "gpu/plan/step_nodes.h"

namespace stormcell::gpu {

std::unique_ptr<PlanKernel> plan_compact(const KernelBuildContext&) {
  return planned("compact", [](StepNodes& nodes) {
    CompactArgs args;
    args.ref[CompactArgs::kMask] = nodes.reads(0);
    args.ref[CompactArgs::kTo] = nodes.writes(0);
    args.ref[CompactArgs::kTo].access = Access::both;
    args.ref[CompactArgs::kBase] = nodes.cells_of(nodes.input(0), args.base);
    args.to = nodes.plan().ragged_places(nodes.step().outputs[0]);
    nodes.add<CompactKernel>(args, 1);
  });
}

}  // namespace stormcell::gpu
