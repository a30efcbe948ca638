#include "core/base/number_format.h"
#include "core/graph/annotation_rules.h"
#include "core/graph/roles.h"
#include "gpu/plan/conv_nodes.h"

namespace stormcell::gpu {

std::unique_ptr<PlanKernel> plan_conv2d(const KernelBuildContext& m) {
  const Node& node = m.node();
  if (format_of(format_in_products(m.value(1))).is_blocks() || m.reads(0) != DType::f32) return nullptr;
  const std::optional<ConvArgs> args = convolution_of(m, 1, integer_of(node, "groups"));
  if (!args) return nullptr;
  PlannedConvolution c{*args, {}, {}, {}};
  set_steps(node, c.args);
  c.args.rounds = rounds_maps(m, 1, c.args);
  c.weights = {static_cast<int32_t>(m.branch_weight(1, kPlainF32Layout, DType::f32))};
  if (const auto bias = extra_input(node, "bias")) c.biases = {static_cast<int32_t>(m.f32_weight(*bias))};
  const std::optional<size_t> residual = extra_input(node, "residual");
  return planned("conv2d", [c, residual](StepNodes& nodes) {
    add_convolution(nodes, c, {nodes.reads(0), nodes.writes(0), residual ? nodes.reads(*residual) : Ref()});
  });
}

}  // namespace stormcell::gpu
