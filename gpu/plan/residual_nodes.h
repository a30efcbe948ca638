// Nodes of a chain of residual blocks, of one branch or of all branches of a decision: one node, or where weights are
// large two a block.
#pragma once
#include <vector>

#include "gpu/plan/conv_nodes.h"

namespace stormcell::gpu {

/// The convolutions of a chain: the first of a block, its second, the first of the next.
using PlannedBlocks = std::vector<PlannedConvolution>;

/// A convolution of a block, without its weights, which are like input `weight`. Nothing: as convolution_of().
std::optional<ConvArgs> convolution_of_block(const KernelBuildContext& m, size_t weight);
/// Adds x + second(relu(first(x))), block after block.
void add_blocks(StepNodes& nodes, const PlannedBlocks& convolutions);

}  // namespace stormcell::gpu
