#include "gpu/plan/residual_nodes.h"

namespace stormcell::gpu {

std::optional<ConvArgs> convolution_of_block(const KernelBuildContext& m, size_t weight) {
  std::optional<ConvArgs> args = convolution_of(m, weight, 1);
  if (args) args->padding = args->kernel_h / 2;
  return args;
}

// The first block reads the map that came, the others read the result of the block before, and add to it where it lies:
// the thread that writes a number has read that number alone.
void add_blocks(StepNodes& nodes, const PlannedBlocks& convolutions) {
  const ConvArgs& of = convolutions.front().args;
  const Operand& to = nodes.output(0);
  const Ref inner =
      nodes.plan().scratch(nodes.most_rows(to) * of.height * of.width * of.channels * int64_t{sizeof(float)});
  const auto read = [](Ref ref) {
    ref.access = Access::read;
    return ref;
  };
  for (size_t i = 0; i < convolutions.size(); i += 2) {
    const bool is_first = i == 0;
    PlannedConvolution first = convolutions[i], second = convolutions[i + 1];
    first.args.activation = PointwiseOp::relu;
    first.args.from_cells = is_first && of.from_cells;
    second.args.from_cells = false;
    second.args.residual_from_cells = is_first && of.from_cells;
    const Ref x = is_first ? nodes.reads(0) : read(nodes.writes(0));
    add_convolution(nodes, first, {x, inner, {}});
    add_convolution(nodes, second, {read(inner), nodes.writes(0), x});
  }
}

}  // namespace stormcell::gpu
