#include "gpu/plan/pointwise_nodes.h"

namespace stormcell::gpu {

std::unique_ptr<PlanKernel> plan_choice_weight(const KernelBuildContext& m) {
  if (m.node().attributes.has("branch")) return nullptr;
  return planned("choice_weight", [](StepNodes& nodes) {
    PointwiseNode node(nodes, nodes.output(0));
    node.load_slot_weight(0, 0);
    node.store(0, 0);
    node.add();
  });
}

}  // namespace stormcell::gpu
