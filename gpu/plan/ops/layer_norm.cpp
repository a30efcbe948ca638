#include "gpu/plan/reduce_nodes.h"

namespace stormcell::gpu {

std::unique_ptr<PlanKernel> plan_layer_norm(const KernelBuildContext& m) {
  ReduceArgs args;
  args.what = Reduction::layer_norm;
  args.gain = static_cast<int32_t>(m.f32_weight(1));
  args.shift = static_cast<int32_t>(m.f32_weight(2));
  args.eps = static_cast<float>(m.node().attributes.real("eps"));
  return planned("layer_norm", [args](StepNodes& nodes) { add_reduce(nodes, args); });
}

}  // namespace stormcell::gpu
