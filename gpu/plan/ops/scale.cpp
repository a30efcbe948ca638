#include "gpu/plan/pointwise_nodes.h"

namespace stormcell::gpu {

std::unique_ptr<PlanKernel> plan_scale(const KernelBuildContext& m) {
  const auto factor = static_cast<float>(m.node().attributes.real("factor"));
  return planned("scale", [factor](StepNodes& nodes) {
    PointwiseNode node(nodes, nodes.output(0));
    node.load(0, 0);
    node.constant(1, factor);
    node.compute(PointwiseOp::multiply, 0, 0, 1);
    node.store(0, 0);
    node.add();
  });
}

}  // namespace stormcell::gpu
