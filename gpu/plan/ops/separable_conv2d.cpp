#include "core/base/number_format.h"
#include "core/graph/annotation_rules.h"
#include "core/graph/roles.h"
#include "gpu/plan/conv_nodes.h"

namespace stormcell::gpu {

std::unique_ptr<PlanKernel> plan_separable_conv2d(const KernelBuildContext& m) {
  const Node& node = m.node();
  for (const size_t weight : {1, 2})
    if (format_of(format_in_products(m.value(weight))).is_blocks()) return nullptr;
  const std::optional<ConvArgs> args = convolution_of(m, 1, 1);
  if (m.reads(0) != DType::f32 || !args) return nullptr;
  PlannedConvolution c{*args, {}, {}, {}};
  set_steps(node, c.args);
  c.args.outputs = static_cast<int32_t>(m.type(2).content[0].constant());
  c.args.rounds = rounds_maps(m, 2, c.args);
  c.args.depthwise = static_cast<int32_t>(m.weight(1, kPlainF32Layout, DType::f32));
  c.weights = {static_cast<int32_t>(m.branch_weight(2, kPlainF32Layout, DType::f32))};
  if (const auto bias = extra_input(node, "bias")) c.biases = {static_cast<int32_t>(m.f32_weight(*bias))};
  const std::optional<size_t> residual = extra_input(node, "residual");
  return planned("separable_conv2d", [c, residual](StepNodes& nodes) {
    add_convolution(nodes, c, {nodes.reads(0), nodes.writes(0), residual ? nodes.reads(*residual) : Ref()});
  });
}

}  // namespace stormcell::gpu
