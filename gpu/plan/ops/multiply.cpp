#include "gpu/plan/pointwise_nodes.h"

namespace stormcell::gpu {

std::unique_ptr<PlanKernel> plan_multiply(const KernelBuildContext&) {
  return planned("multiply", [](StepNodes& nodes) {
    PointwiseNode node(nodes, nodes.output(0));
    node.load(0, 0);
    node.load(1, 1);
    node.compute(PointwiseOp::multiply, 0, 0, 1);
    node.store(0, 0);
    node.add();
  });
}

}  // namespace stormcell::gpu
