#include "gpu/plan/pointwise_nodes.h"

namespace stormcell::gpu {

std::unique_ptr<PlanKernel> plan_activation(const KernelBuildContext& m) {
  const PointwiseOp op = activation_of(m.node().attributes.word("kind"));
  return planned("activation", [op](StepNodes& nodes) {
    PointwiseNode node(nodes, nodes.output(0));
    node.load(0, 0);
    if (op != PointwiseOp::constant) node.compute(op, 0, 0);
    node.store(0, 0);
    node.add();
  });
}

}  // namespace stormcell::gpu
