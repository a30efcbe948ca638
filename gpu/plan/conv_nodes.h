// Parts that operators over maps share: extents and weights of a convolution, and its node (gpu/maps/conv.h).
#pragma once
#include <optional>
#include <vector>

#include "gpu/plan/step_nodes.h"

namespace stormcell::gpu {

struct PlannedConvolution {
  ConvArgs args;
  std::vector<int32_t> weights, biases;  ///< handles; by branch, or one
  std::optional<size_t> decision;        ///< the step's input; of maps of all slots
};

/// The memory that a convolution reads and writes. `to` and `x`: at least one of them is an operand's, not scratch.
struct ConvolvedMaps {
  Ref x, to, residual;
};

/// Extents of a convolution of input 0 by weights like input `weight`. Nothing: a tile cannot count the pixels of all
/// results.
std::optional<ConvArgs> convolution_of(const KernelBuildContext& m, size_t weight, int64_t groups);
/// Sets stride, padding and what follows the sums, by the node's attributes.
void set_steps(const Node& node, ConvArgs& args);
/// True where maps are multiplied in bf16. Depthwise is no product: its maps are not rounded.
bool rounds_maps(const KernelBuildContext& m, size_t weight, const ConvArgs& args);
void add_convolution(StepNodes& nodes, const PlannedConvolution& of, const ConvolvedMaps& at);

}  // namespace stormcell::gpu
