#include "gpu/plan/reduce_nodes.h"

namespace stormcell::gpu {

std::unique_ptr<PlanKernel> plan_argmax(const KernelBuildContext&) {
  return planned("argmax", [](StepNodes& nodes) {
    ReduceArgs args;
    args.what = Reduction::argmax;
    add_reduce(nodes, args);
  });
}

}  // namespace stormcell::gpu
