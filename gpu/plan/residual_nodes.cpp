#include "gpu/plan/residual_nodes.h"

namespace stormcell::gpu {

std::optional<ConvArgs> convolution_of_block(const KernelBuildContext& m, size_t weight) {
  std::optional<ConvArgs> args = convolution_of(m, weight, 1);
  if (args) args->padding = args->kernel_h / 2;
  return args;
}

namespace {

Ref inner_maps(StepNodes& nodes, const ConvArgs& of) {
  return nodes.plan().scratch(nodes.most_rows(nodes.output(0)) * of.height * of.width * of.channels *
                              int64_t{sizeof(float)});
}

// One node. Weights of small maps fit the memory that a block of threads shares.
void add_chain(StepNodes& nodes, const PlannedBlocks& convolutions) {
  const PlannedConvolution& first = convolutions.front();
  ChainArgs args;
  args.height = first.args.height, args.width = first.args.width;
  args.channels = first.args.channels, args.size = first.args.kernel_h;
  args.from_cells = first.args.from_cells;
  args.convolutions = static_cast<int32_t>(convolutions.size());
  args.branches = static_cast<int32_t>(first.weights.size());
  std::vector<int32_t> weights, biases;
  for (const PlannedConvolution& c : convolutions) {
    weights.insert(weights.end(), c.weights.begin(), c.weights.end());
    biases.insert(biases.end(), c.biases.begin(), c.biases.end());
  }
  args.weights = nodes.plan().constants(weights.data(), weights.size());
  args.biases = nodes.plan().constants(biases.data(), biases.size());
  args.ref[ChainArgs::kX] = nodes.reads(0), args.ref[ChainArgs::kTo] = nodes.writes(0);
  args.ref[ChainArgs::kInner] = inner_maps(nodes, first.args);
  args.ref[ChainArgs::kInner].access = Access::both;
  if (first.decision) {
    const OperandId decision = nodes.step().inputs[*first.decision], members = nodes.output(0).ragged;
    args.ref[ChainArgs::kDecision] = nodes.reads(*first.decision);
    args.decision = nodes.decision(*first.decision);
    if (members != kNone) args.ref[ChainArgs::kOffsets] = nodes.plan().map_of(decision, members).offsets;
  }
  nodes.add<ChainKernel>(args, nodes.blocks(nodes.most_rows(nodes.output(0)), 1));
}

// Two nodes a block. The first block reads the map that came, the others read the result of the block before, and add
// to it in place: the thread that writes a number has read that number alone.
void add_convolutions(StepNodes& nodes, const PlannedBlocks& convolutions) {
  const ConvArgs& of = convolutions.front().args;
  const Ref inner = inner_maps(nodes, of);
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

}  // namespace

void add_blocks(StepNodes& nodes, const PlannedBlocks& convolutions) {
  const ConvArgs& of = convolutions.front().args;
  if (int64_t{of.channels} * of.channels * of.kernel_h * of.kernel_w <= ChainKernel::kMostWeights)
    add_chain(nodes, convolutions);
  else
    add_convolutions(nodes, convolutions);
}

}  // namespace stormcell::gpu
