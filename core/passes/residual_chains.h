// Residual blocks of convolutions that follow one another become one node: a part of vertical fusion, behind its
// folding.
#pragma once
#include <cstddef>

#include "core/graph/graph.h"
#include "core/passes/reasons.h"

namespace stormcell {

struct ResidualChains {
  size_t chains = 0, blocks = 0;
};

/// A residual block x + v * relu(w * x + b) + d is two convolutions. If it has few channels, and a cache holds its maps
/// twice, the two become one node; blocks that each read the one before become one node together. So do grouped
/// convolutions, which compute those of all branches of a decision. Nodes and values that a plan annotates stay as they
/// are. On the CPU the results are bit for bit the same. Blocks whose chain `kernels` has no kernel for stay, and are
/// noted there.
ResidualChains fold_residual_chains(Graph& graph, AskedKernels& kernels);

}  // namespace stormcell
