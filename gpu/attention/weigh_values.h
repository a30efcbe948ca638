// The mean of values by the softmax of their scores, in one pass: what a warp does for a query of one head. 32 keys at a
// time, a key a lane for the scores, a column a lane for the values.
#pragma once
#include "gpu/base/execution.h"
#include "gpu/routing/rule.h"

namespace stormcell::gpu {

/// score(key): -infinity where the query does not see the key; value(key, column). `shared`: 32 numbers of the warp. A
/// lane gets columns lane, lane + 32, ... of `width`; 0 where no key is seen.
template <int kColumns, class X, class Score, class Value>
STORMCELL_DEVICE_INLINED void weigh_values(X& x, float* shared, int32_t keys, int32_t width, const Score& score,
                                           const Value& value, float (&means)[kColumns]) {
  const int lane = x.thread() % 32;
  float largest = -kInfinity, total = 0;
  STORMCELL_UNROLL
  for (int c = 0; c < kColumns; ++c) means[c] = 0;
  for (int32_t first = 0; first < keys; first += 32) {
    const int32_t key = first + lane;
    const float mine = key < keys ? score(key) : -kInfinity;
    float top = mine;
    STORMCELL_UNROLL
    for (int step = 16; step > 0; step /= 2) top = fmaxf(top, x.shuffle_xor(top, step));
    const float now = fmaxf(largest, top), before = largest > -kInfinity ? expf(largest - now) : 0.0f;
    const float weight = mine > -kInfinity ? expf(mine - now) : 0.0f;
    float weights = weight;
    STORMCELL_UNROLL
    for (int step = 16; step > 0; step /= 2) weights += x.shuffle_xor(weights, step);
    total = total * before + weights;
    largest = now;
    x.sync_warp();  // the weights of the keys before have been read
    shared[lane] = weight;
    x.sync_warp();
    const int32_t some = least(32, keys - first);
    STORMCELL_UNROLL
    for (int c = 0; c < kColumns; ++c) {
      const int32_t column = lane + 32 * c;
      if (column >= width) continue;
      float sum = means[c] * before;
      for (int32_t j = 0; j < some; ++j) sum += shared[j] * value(first + j, column);
      means[c] = sum;
    }
  }
  STORMCELL_UNROLL
  for (int c = 0; c < kColumns; ++c) means[c] = total > 0 ? means[c] / total : 0.0f;
}

}  // namespace stormcell::gpu
