// Kernels that measure the upper limits of a card: multiplications and additions of f32, and bytes read.
#pragma once
#include "gpu/base/execution.h"

namespace stormcell::card {

struct FmaProbeArgs {
  float* sink = nullptr;  ///< written to where a sum has a value that it never has, so that no compiler drops the sums
  int64_t turns = 0;
  float factor = 0;
};

/// Limit: multiplications of the card, two operations each. Every thread has 16 sums that do not wait for each other.
struct FmaProbe {
  using Args = FmaProbeArgs;
  using Shared = gpu::Nothing;
  static constexpr const char* kName = "probe of multiplications";
  static constexpr int kThreads = 256;
  static constexpr bool kIndependent = true;
  static constexpr int kSums = 16;

  template <class X>
  STORMCELL_DEVICE static void run(X& x, const Args& a) {
    float sum[kSums];
    STORMCELL_UNROLL
    for (int i = 0; i < kSums; ++i) sum[i] = static_cast<float>(x.thread() + i);
    for (int64_t turn = 0; turn < a.turns; ++turn) {
      STORMCELL_UNROLL
      for (int i = 0; i < kSums; ++i) sum[i] = sum[i] * a.factor + a.factor;
    }
    float all = 0;
    STORMCELL_UNROLL
    for (int i = 0; i < kSums; ++i) all += sum[i];
    if (all == -1.0f) *a.sink = all;
  }
};

struct ReadProbeArgs {
  const gpu::Sixteen* from = nullptr;
  int64_t count = 0;
  float* sink = nullptr;
};

/// Limit: bandwidth of the card's memory. A thread has eight loads on their way.
struct ReadProbe {
  using Args = ReadProbeArgs;
  using Shared = gpu::Nothing;
  static constexpr const char* kName = "probe of reading";
  static constexpr int kThreads = 256;
  static constexpr bool kIndependent = true;
  static constexpr int kAtOnce = 8;

  template <class X>
  STORMCELL_DEVICE static void run(X& x, const Args& a) {
    const int64_t step = static_cast<int64_t>(x.blocks()) * kThreads;
    int64_t i = static_cast<int64_t>(x.block()) * kThreads + x.thread();
    uint32_t sum = 0;
    for (; i + (kAtOnce - 1) * step < a.count; i += kAtOnce * step) {
      gpu::Sixteen piece[kAtOnce];
      STORMCELL_UNROLL
      for (int j = 0; j < kAtOnce; ++j) piece[j] = x.load_once(a.from + i + j * step);
      STORMCELL_UNROLL
      for (int j = 0; j < kAtOnce; ++j)
        sum ^= piece[j].word[0] ^ piece[j].word[1] ^ piece[j].word[2] ^ piece[j].word[3];
    }
    for (; i < a.count; i += step) sum ^= x.load_once(a.from + i).word[0];
    if (sum == 0x12345678u) *a.sink = 1;
  }
};

}  // namespace stormcell::card
