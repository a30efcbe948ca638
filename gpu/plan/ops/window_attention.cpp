#include "core/graph/roles.h"
#include "core/graph/window_grid.h"
#include "gpu/plan/step_nodes.h"

namespace stormcell::gpu {

std::unique_ptr<PlanKernel> plan_window_attention(const KernelBuildContext& m) {
  const Node& node = m.node();
  const WindowGrid grid = window_grid_of(node);
  WindowAttentionArgs a;
  a.heads = static_cast<int32_t>(node.attributes.integer("heads"));
  a.head_dim = static_cast<int32_t>(m.type(0).content[0].constant() / a.heads);
  a.value_dim = static_cast<int32_t>(m.type(2).content[0].constant() / a.heads);
  if (a.value_dim > WindowAttentionKernel::kMostValueDim || grid.height * grid.width > INT32_MAX) return nullptr;
  a.height = static_cast<int32_t>(grid.height), a.width = static_cast<int32_t>(grid.width);
  a.window_height = static_cast<int32_t>(grid.window_height), a.window_width = static_cast<int32_t>(grid.window_width);
  a.shift_height = static_cast<int32_t>(grid.shift_height), a.shift_width = static_cast<int32_t>(grid.shift_width);
  a.scale = static_cast<float>(real_of(node, "scale"));
  if (const auto bias = extra_input(node, "bias")) a.bias = static_cast<int32_t>(m.f32_weight(*bias));
  if (const auto scales = extra_input(node, "scales")) a.scales = static_cast<int32_t>(m.f32_weight(*scales));
  return planned("window_attention", [a](StepNodes& nodes) {
    WindowAttentionArgs args = a;
    args.ref[WindowAttentionArgs::kQueries] = nodes.reads(0);
    args.ref[WindowAttentionArgs::kKeys] = nodes.reads(1);
    args.ref[WindowAttentionArgs::kValues] = nodes.reads(2);
    args.ref[WindowAttentionArgs::kTo] = nodes.writes(0);
    const int64_t warps = nodes.most_rows(nodes.input(0)) * args.heads;
    nodes.add<WindowAttentionKernel>(args, nodes.blocks(warps, WindowAttentionKernel::kWarps));
  });
}

}  // namespace stormcell::gpu
