#include "gpu/plan/branch_handles.h"
#include "gpu/plan/residual_nodes.h"

namespace stormcell::gpu {

std::unique_ptr<PlanKernel> plan_grouped_residual_blocks(const KernelBuildContext& m) {
  const BranchRows rows(m);
  constexpr size_t kFirst = 2;  // the weights
  std::optional<ConvArgs> args = convolution_of_block(m, kFirst);
  if (rows.branches() > kMostExperts || m.reads(0) != DType::f32 || !args) return nullptr;
  args->from_cells = rows.from_cells();
  const size_t branches = m.node().attributes.list("branches").size();
  PlannedBlocks blocks;
  // No parts, as of residual_blocks.
  for (size_t at = kFirst; at < m.node().inputs.size(); at += 2 * branches)
    blocks.push_back(
        {*args, handles_by_branch(m, rows, [&](size_t i) { return m.weight(at + i, kPlainF32Layout, DType::f32); }),
         handles_by_branch(m, rows, [&](size_t i) { return m.f32_weight(at + branches + i); }), size_t{1}});
  return planned("grouped_residual_blocks", [blocks](StepNodes& nodes) { add_blocks(nodes, blocks); });
}

}  // namespace stormcell::gpu
