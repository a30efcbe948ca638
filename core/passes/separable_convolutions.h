// A depthwise convolution becomes part of the pointwise one that alone reads it: a part of vertical fusion, behind its
// folding.
#pragma once
#include <cstddef>

#include "core/graph/graph.h"
#include "core/passes/reasons.h"

namespace stormcell {

/// Each conv2d of every channel by itself, with nothing behind its sums, and the conv2d of 1 x 1 that alone reads it
/// become one separable_conv2d in the place of the second. Returns their number. An annotation of either, or of the map
/// between, keeps them apart, and so does an operator that `kernels` has no kernel for, which is noted there. Bit for
/// bit the same if both are computed as the CPU does.
size_t fold_separable_convolutions(Graph& graph, AskedKernels& kernels);

}  // namespace stormcell
