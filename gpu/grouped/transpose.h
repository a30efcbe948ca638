// Exchanges between lanes that turn the tensor cores' sums into stores of neighbouring numbers.
#pragma once
#include "gpu/base/execution.h"

namespace stormcell::gpu {

/// Four lanes of a quad hold four words each; afterwards lane q's word t is what lane t had as word q.
template <class X>
STORMCELL_DEVICE void transpose_quad(X& x, uint32_t (&word)[4]) {
  const int q = x.thread() % 4;
  // First the off-diagonal words of each 2 x 2 block, then the off-diagonal blocks.
  uint32_t a = x.shuffle_xor(q & 1 ? word[0] : word[1], 1), b = x.shuffle_xor(q & 1 ? word[2] : word[3], 1);
  if (q & 1)
    word[0] = a, word[2] = b;
  else
    word[1] = a, word[3] = b;
  a = x.shuffle_xor(q & 2 ? word[0] : word[2], 2), b = x.shuffle_xor(q & 2 ? word[1] : word[3], 2);
  if (q & 2)
    word[0] = a, word[1] = b;
  else
    word[2] = a, word[3] = b;
}

/// Lanes four apart hold neighbouring columns of the same two rows; afterwards the lower lane has both columns of the first row, the upper
/// one both of the second.
template <class X>
STORMCELL_DEVICE uint32_t pair_columns(X& x, float first, float second) {
  const bool upper = x.thread() / 4 % 2;
  const float other = x.shuffle_xor(upper ? first : second, 4);
  return upper ? two_bf16(other, second) : two_bf16(first, other);
}

}  // namespace stormcell::gpu
