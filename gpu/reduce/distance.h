// Squared distances of rows to centres. A warp takes a row and a centre. Differences are squared, not expanded to
// products: near a centre these would cancel. Bound: floating-point units, or reading the centres once a row, from
// caches.
#pragma once
#include "gpu/rows/call.h"

namespace stormcell::gpu {

struct DistanceArgs : KernelArgs<2> {
  enum { kFrom, kTo };
  int32_t centres = -1;  ///< handle of [count, width]
  int32_t count = 1, width = 1;
  bool reciprocal = false;  ///< one over the distance, which counts as kLeast at least
};

struct DistanceKernel {
  using Args = DistanceArgs;
  using Shared = Nothing;
  static constexpr const char* kName = "distance";
  static constexpr int kThreads = 256;
  static constexpr bool kIndependent = false;
  static constexpr float kLeast = 1e-30f;  ///< so that the score of a row in a centre is finite

  template <class X>
  STORMCELL_DEVICE static void run(X& x, const Args& a) {
    const float* centres = a.is_due() ? a.weight<float>(a.centres) : nullptr;
    if (!centres) return;
    const float* from = a.in<float>(a.ref[Args::kFrom]);
    float* to = a.out<float>(a.ref[Args::kTo]);
    const int64_t all = static_cast<int64_t>(a.rows(a.ref[Args::kFrom]).rows) * a.count,
                  warps = static_cast<int64_t>(x.blocks()) * (kThreads / 32);
    const int lane = x.thread() % 32;
    for (int64_t i = static_cast<int64_t>(x.block()) * (kThreads / 32) + x.thread() / 32; i < all; i += warps) {
      const float *row = from + i / a.count * a.width, *centre = centres + i % a.count * a.width;
      float sum = 0;
      for (int32_t c = lane; c < a.width; c += 32) {
        const float apart = x.load(row + c) - centre[c];
        sum += apart * apart;
      }
      STORMCELL_UNROLL
      for (int mask = 16; mask > 0; mask /= 2) sum += x.shuffle_xor(sum, mask);
      if (lane == 0) x.store(to + i, a.reciprocal ? 1 / fmaxf(sum, kLeast) : sum);
    }
  }
};

}  // namespace stormcell::gpu
