#include "gpu/plan/step_nodes.h"

namespace stormcell::gpu {

std::unique_ptr<PlanKernel> plan_all_set(const KernelBuildContext&) {
  return planned("all_set", [](StepNodes& nodes) {
    DecideArgs args;
    args.ref[DecideArgs::kTo] = nodes.writes(0);
    std::vector<Ref> list;
    for (size_t i = 0; i < nodes.step().inputs.size(); ++i) list.push_back(nodes.reads(i));
    nodes.add<DecideKernel>(args, 1, list);
  });
}

}  // namespace stormcell::gpu
