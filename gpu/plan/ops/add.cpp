#include "gpu/plan/pointwise_nodes.h"

namespace stormcell::gpu {

std::unique_ptr<PlanKernel> plan_add(const KernelBuildContext& m) {
  const PointwiseOp op = m.type(0).dtype == DType::i32 ? PointwiseOp::add_integer : PointwiseOp::add;
  return planned("add", [op](StepNodes& nodes) {
    PointwiseNode node(nodes, nodes.output(0));
    node.load(0, 0);
    node.load(1, 1);
    node.compute(op, 0, 0, 1);
    node.store(0, 0);
    node.add();
  });
}

}  // namespace stormcell::gpu
