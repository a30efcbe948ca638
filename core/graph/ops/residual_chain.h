// Common part of residual_blocks and grouped_residual_blocks: the weights of their blocks.
#pragma once
#include "core/graph/ops/convolution.h"

namespace stormcell {

inline constexpr size_t kInputsOfBlock = 4, kMostBlocks = 4096;

/// Inputs [first, end) are weights and biases of convolutions that keep the extents and channels of x: `branches`
/// weights, then as many biases, and so on.
inline void expect_blocks(const Graph& g, const Node& n, size_t first, size_t end, size_t branches) {
  const Dim channels = input_type(g, n, 0).content[2];
  const TensorType& w = input_type(g, n, first);
  const bool square = w.space == kNone && w.content.size() == 4 && w.content[1] == w.content[2] &&
                      w.content[1].constant() % 2 == 1 && w.content[0] == channels && w.content[3] == channels;
  if (!square)
    operator_error(n, "weights [C, k, k, C] with an odd k, of C = " + channels.to_text(g.symbols), type_text(g, w));
  for (size_t i = first; i < end; ++i) {
    const bool bias = (i - first) / branches % 2 == 1;
    expect_shared(g, n, i, bias ? std::vector<Dim>{channels} : w.content);
  }
}

}  // namespace stormcell
