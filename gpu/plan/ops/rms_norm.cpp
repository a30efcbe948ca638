#include "core/base/error.h"
#include "gpu/plan/reduce_nodes.h"

namespace stormcell::gpu {

std::unique_ptr<PlanKernel> plan_rms_norm(const KernelBuildContext& m) {
  if (integer_of(m.node(), "heads") != 1)
    failed("rms_norm", "CUDA does not run norms of single heads yet", "run it with --device cpu");
  ReduceArgs args;
  args.gain = static_cast<int32_t>(m.f32_weight(1));
  args.eps = static_cast<float>(m.node().attributes.real("eps"));
  return planned("rms_norm", [args](StepNodes& nodes) { add_reduce(nodes, args); });
}

}  // namespace stormcell::gpu
