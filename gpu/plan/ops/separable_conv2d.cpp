// Two nodes: the convolution of each channel by itself into scratch, and the product with the weights of a pixel.
#include "core/base/number_format.h"
#include "core/graph/annotation_rules.h"
#include "core/graph/roles.h"
#include "gpu/plan/conv_nodes.h"

namespace stormcell::gpu {

std::unique_ptr<PlanKernel> plan_separable_conv2d(const KernelBuildContext& m) {
  const Node& node = m.node();
  for (const size_t weight : {1, 2})
    if (format_of(format_in_products(m.value(weight))).is_blocks()) return nullptr;
  const std::optional<ConvArgs> args = convolution_of(m, 1, m.type(0).content[2].constant());
  if (m.reads(0) != DType::f32 || !args) return nullptr;
  PlannedConvolution depthwise{*args, {}, {}, {}}, pointwise = depthwise;
  set_steps(node, depthwise.args);
  depthwise.args.activation = PointwiseOp::constant;
  depthwise.weights = {static_cast<int32_t>(m.weight(1, kPlainF32Layout, DType::f32))};
  ConvArgs& a = pointwise.args;
  set_steps(node, a);
  a.height = a.out_height, a.width = a.out_width;
  a.outputs = static_cast<int32_t>(m.type(2).content[0].constant()), a.depth = a.channels;
  a.kernel_h = a.kernel_w = a.stride = a.groups = 1, a.padding = 0;
  a.rounds = rounds_maps(m, 2, a);
  pointwise.weights = {static_cast<int32_t>(m.branch_weight(2, kPlainF32Layout, DType::f32))};
  if (const auto bias = extra_input(node, "bias")) pointwise.biases = {static_cast<int32_t>(m.f32_weight(*bias))};
  const std::optional<size_t> residual = extra_input(node, "residual");
  return planned("separable_conv2d", [depthwise, pointwise, residual](StepNodes& nodes) {
    const ConvArgs& between = pointwise.args;
    Ref maps = nodes.plan().scratch(nodes.most_rows(nodes.output(0)) * between.height * between.width *
                                    between.channels * int64_t{sizeof(float)});
    add_convolution(nodes, depthwise, {nodes.reads(0), maps, {}});
    maps.access = Access::read;
    add_convolution(nodes, pointwise, {maps, nodes.writes(0), residual ? nodes.reads(*residual) : Ref()});
  });
}

}  // namespace stormcell::gpu
