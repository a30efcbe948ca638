// Residual blocks of convolutions that follow one another become one node: a part of vertical fusion, behind its folding.
#pragma once
#include <cstddef>

#include "core/graph/graph.h"

namespace stormcell {

struct ResidualChains {
  size_t chains = 0, blocks = 0;
};

/// Each x + v * relu(w * x + b) + d of two nodes whose operator chains, over maps that a cache holds twice and with few channels, becomes a
/// node of the operator that it chains as; those of which each reads the one before become one. Convolutions of all branches of a decision
/// become chains of all branches. What a plan says of any of the nodes or of the values between keeps them apart. Bit for bit the same
/// where both are computed as the CPU does.
ResidualChains fold_residual_chains(Graph& graph);

}  // namespace stormcell
