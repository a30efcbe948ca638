#include "core/base/number_format.h"
#include "core/graph/annotation_rules.h"
#include "core/graph/roles.h"
#include "gpu/plan/pointwise_nodes.h"

namespace stormcell::gpu {
namespace {

struct Convolution {
  ConvArgs args;
  std::optional<size_t> residual;
};

ConvArgs maps_of(const KernelBuildContext& m) {
  const auto extent = [](const TensorType& type, size_t i) { return static_cast<int32_t>(type.content[i].constant()); };
  const TensorType &x = m.type(0), &w = m.type(1), &y = m.graph().value(m.node().outputs[0]).type;
  ConvArgs a;
  a.height = extent(x, 0), a.width = extent(x, 1), a.channels = extent(x, 2);
  a.out_height = extent(y, 0), a.out_width = extent(y, 1), a.outputs = extent(y, 2);
  a.kernel_h = extent(w, 1), a.kernel_w = extent(w, 2), a.depth = extent(w, 3);
  a.stride = static_cast<int32_t>(integer_of(m.node(), "stride"));
  a.padding = static_cast<int32_t>(integer_of(m.node(), "padding"));
  a.groups = static_cast<int32_t>(integer_of(m.node(), "groups"));
  return a;
}

void add_convolution(StepNodes& nodes, const Convolution& c) {
  ConvArgs args = c.args;
  args.ref[ConvArgs::kX] = nodes.reads(0);
  args.ref[ConvArgs::kTo] = nodes.writes(0);
  if (c.residual) args.ref[ConvArgs::kResidual] = nodes.reads(*c.residual);
  const int64_t pixels = nodes.most_rows(nodes.output(0)) * args.out_height * args.out_width;
  if (args.groups > 1)
    return nodes.add<GroupedConvKernel>(args, nodes.blocks(pixels * args.outputs, GroupedConvKernel::kThreads));
  constexpr int64_t kRows = PlainTile<1>::kRows, kColumns = PlainTile<1>::kColumns;
  nodes.add<ConvKernel>(args, nodes.blocks(parts(pixels, kRows) * parts<int64_t>(args.outputs, kColumns), 1));
}

}  // namespace

// Depthwise is no product: its maps are not rounded.
std::unique_ptr<PlanKernel> plan_conv2d(const KernelBuildContext& m) {
  const Node& node = m.node();
  const NumberFormat& format = format_of(format_in_products(m.value(1)));
  if (format.is_blocks() || m.reads(0) != DType::f32) return nullptr;
  Convolution c;
  ConvArgs& a = c.args;
  a = maps_of(m);
  if (m.most_rows(0) * a.out_height * a.out_width > INT32_MAX) return nullptr;  // a tile counts pixels
  const bool depthwise = a.groups > 1 && a.groups == a.channels && a.groups == a.outputs;
  a.rounds = format.rounds_rows && !depthwise;
  a.weights = static_cast<int32_t>(m.branch_weight(1, kPlainF32Layout, DType::f32));
  if (const auto bias = extra_input(node, "bias")) a.biases = static_cast<int32_t>(m.f32_weight(*bias));
  c.residual = extra_input(node, "residual");
  a.activation = activation_of(word_of(node, "activation"));
  a.residual_first = flag_of(node, "residual_first");
  return planned("conv2d", [c](StepNodes& nodes) { add_convolution(nodes, c); });
}

}  // namespace stormcell::gpu
