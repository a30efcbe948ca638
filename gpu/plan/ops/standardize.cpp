#include "gpu/plan/pointwise_nodes.h"

namespace stormcell::gpu {

// Weights are by channel, the last extent: the rows of the kernel are pixels if the operand's rows are maps.
std::unique_ptr<PlanKernel> plan_standardize(const KernelBuildContext& m) {
  const WeightHandle mean = m.f32_weight(1), deviation = m.f32_weight(2);
  const int64_t channels = m.type(0).content.back().constant();
  return planned("standardize", [mean, deviation, channels](StepNodes& nodes) {
    PointwiseNode node(nodes, nodes.output(0));
    node.by_pixel(channels);
    node.load(0, 0);
    node.load_column(1, mean);
    node.compute(PointwiseOp::subtract, 0, 0, 1);
    node.load_column(1, deviation);
    node.compute(PointwiseOp::divide, 0, 0, 1);
    node.store(0, 0);
    node.add();
  });
}

}  // namespace stormcell::gpu
