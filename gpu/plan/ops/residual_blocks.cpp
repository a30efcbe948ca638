#include "gpu/plan/residual_nodes.h"

namespace stormcell::gpu {

std::unique_ptr<PlanKernel> plan_residual_blocks(const KernelBuildContext& m) {
  const std::optional<ConvArgs> args = convolution_of_block(m, 1);
  if (m.reads(0) != DType::f32 || !args) return nullptr;
  PlannedBlocks blocks;
  // No parts: a chain needs all its weights.
  for (size_t i = 1; i < m.node().inputs.size(); i += 2)
    blocks.push_back({*args,
                      {static_cast<int32_t>(m.weight(i, kPlainF32Layout, DType::f32))},
                      {static_cast<int32_t>(m.f32_weight(i + 1))},
                      {}});
  return planned("residual_blocks", [blocks](StepNodes& nodes) { add_blocks(nodes, blocks); });
}

}  // namespace stormcell::gpu
