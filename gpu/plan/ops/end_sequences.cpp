#include "gpu/plan/pointwise_nodes.h"

namespace stormcell::gpu {

std::unique_ptr<PlanKernel> plan_end_sequences(const KernelBuildContext& m) {
  const auto end = static_cast<int32_t>(m.node().attributes.integer("end")),
             pad = static_cast<int32_t>(m.node().attributes.integer("pad"));
  return planned("end_sequences", [end, pad](StepNodes& nodes) {
    PointwiseNode node(nodes, nodes.output(0));
    node.load(0, 0);
    node.load(1, 1);
    node.compute(PointwiseOp::choose, 2, 0, 1, pad);
    node.compute(PointwiseOp::is_end, 3, 0, 1, end);
    node.store(2, 0);
    node.store(3, 1);
    node.add();
  });
}

}  // namespace stormcell::gpu
