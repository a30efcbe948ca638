#include "gpu/plan/pointwise_nodes.h"

namespace stormcell::gpu {

std::unique_ptr<PlanKernel> plan_add_constant(const KernelBuildContext& m) {
  const auto value = static_cast<int32_t>(m.node().attributes.integer("value"));
  return planned("add_constant", [value](StepNodes& nodes) {
    PointwiseNode node(nodes, nodes.output(0));
    node.load(0, 0);
    node.integer(1, value);
    node.compute(PointwiseOp::add_integer, 0, 0, 1);
    node.store(0, 0);
    node.add();
  });
}

}  // namespace stormcell::gpu
