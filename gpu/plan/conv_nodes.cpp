#include "gpu/plan/conv_nodes.h"

#include "core/base/number_format.h"
#include "core/graph/annotation_rules.h"
#include "core/graph/roles.h"
#include "gpu/plan/pointwise_nodes.h"

namespace stormcell::gpu {

std::optional<ConvArgs> convolution_of(const KernelBuildContext& m, size_t weight, int64_t groups) {
  const auto extent = [](const TensorType& type, size_t i) { return static_cast<int32_t>(type.content[i].constant()); };
  const TensorType &x = m.type(0), &w = m.type(weight), &y = m.graph().value(m.node().outputs[0]).type;
  ConvArgs a;
  a.height = extent(x, 0), a.width = extent(x, 1), a.channels = extent(x, 2);
  a.out_height = extent(y, 0), a.out_width = extent(y, 1), a.outputs = extent(w, 0);
  a.kernel_h = extent(w, 1), a.kernel_w = extent(w, 2), a.depth = extent(w, 3);
  a.groups = static_cast<int32_t>(groups);
  const Operand& to = m.program.operands[m.step.outputs[0]];
  const int64_t most_maps = to.rows == kNone ? 1 : m.program.dims[to.rows].evaluate(m.bounds);
  if (most_maps * a.out_height * a.out_width > INT32_MAX) return {};
  return a;
}

void set_steps(const Node& node, ConvArgs& args) {
  args.stride = static_cast<int32_t>(integer_of(node, "stride"));
  args.padding = static_cast<int32_t>(integer_of(node, "padding"));
  args.activation = activation_of(word_of(node, "activation"));
  args.residual_first = flag_of(node, "residual_first");
}

bool rounds_maps(const KernelBuildContext& m, size_t weight, const ConvArgs& a) {
  const bool depthwise = a.groups > 1 && a.groups == a.channels && a.groups == a.outputs;
  return format_of(format_in_products(m.value(weight))).rounds_rows && !depthwise;
}

void add_convolution(StepNodes& nodes, const PlannedConvolution& of, const ConvolvedMaps& at) {
  ConvArgs args = of.args;
  args.ref[ConvArgs::kX] = at.x, args.ref[ConvArgs::kTo] = at.to, args.ref[ConvArgs::kResidual] = at.residual;
  args.weights = nodes.plan().constants(of.weights.data(), of.weights.size());
  args.biases = nodes.plan().constants(of.biases.data(), of.biases.size());
  args.has_bias = !of.biases.empty();
  const int64_t pixels = nodes.most_rows(nodes.output(0)) * args.out_height * static_cast<int64_t>(args.out_width);
  if (of.decision) {
    args.ref[ConvArgs::kDecision] = nodes.reads(*of.decision);
    args.decision = nodes.decision(*of.decision);
    const auto tiles = nodes.plan().map_of(nodes.step().inputs[*of.decision], nodes.output(0).ragged,
                                           args.out_height * args.out_width);
    args.ref[ConvArgs::kOffsets] = tiles.offsets;
    if (args.groups == 1) args.ref[ConvArgs::kMap] = tiles.map;
  }
  if (args.groups > 1)
    return nodes.add<GroupedConvKernel>(args, nodes.blocks(pixels * args.outputs, GroupedConvKernel::kThreads));
  constexpr int64_t kRows = PlainTile<1>::kRows, kColumns = PlainTile<1>::kColumns;
  // Each branch may end with a tile that is not full.
  const int64_t row_blocks = parts(pixels, kRows) + (of.decision ? std::ssize(of.weights) : 0);
  const int64_t blocks = nodes.blocks(row_blocks * parts<int64_t>(args.outputs, kColumns), 1);
  if (args.depthwise >= 0)
    nodes.add<SeparableKernel>(args, blocks);
  else
    nodes.add<ConvKernel>(args, blocks);
}

}  // namespace stormcell::gpu
