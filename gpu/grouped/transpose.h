// Exchanges between lanes that turn the tensor cores' sums into stores of neighbouring numbers.
#pragma once
#include "gpu/base/execution.h"

namespace stormcell::gpu {

/// Neighbouring lanes hold a word each of two groups: afterwards the even lane has both words of the first group, the
/// odd one both of the second, so that a quad stores 32 bytes, a sector, at once.
template <class X>
STORMCELL_DEVICE void pair_words(X& x, uint32_t (&word)[2]) {
  const bool odd = x.thread() % 2;
  const uint32_t other = x.shuffle_xor(odd ? word[0] : word[1], 1);
  if (odd)
    word[0] = other;
  else
    word[1] = other;
}

/// Lanes four apart hold neighbouring columns of the same two rows, as a word of two bf16 numbers; afterwards the lower
/// lane has both columns of the first row, the upper one both of the second.
template <class X>
STORMCELL_DEVICE uint32_t pair_columns(X& x, uint32_t rows) {
  const uint32_t other = x.shuffle_xor(rows, 4);
  return pick_bytes(rows, other, x.thread() / 4 % 2 ? 0x3276 : 0x5410);
}

}  // namespace stormcell::gpu
