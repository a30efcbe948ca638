// Loops that do nothing but multiply and add in registers: what the FMA ports can do at most.
#pragma once
#include "core/cpu/kernels/simd.h"

namespace stormcell::cpu::STORMCELL_ISA {

inline constexpr int kPeakChains = kLanes == 4 ? 8 : 12;  // more than latency times ports, fewer than registers
inline constexpr int64_t kPeakTurns = 6000;

/// Keeps the compiler from dropping or merging a chain.
STORMCELL_INLINE void touch(Floats& v) {
#if STORMCELL_SIMD_BITS == 512
  asm volatile("" : "+v"(v));
#elif defined(__x86_64__)
  asm volatile("" : "+x"(v));
#else
  asm volatile("" : "+m"(v));
#endif
}

template <class Step>
STORMCELL_INLINE void turn_chains(Step&& step) {
  Floats chain[kPeakChains];
  static_for<0, kPeakChains>([&](auto i) STORMCELL_UNROLLED { chain[i] = splat(static_cast<float>(i)); });
  for (int64_t turn = 0; turn < kPeakTurns; ++turn)
    static_for<0, kPeakChains>([&](auto i) STORMCELL_UNROLLED {
      chain[i] = step(chain[i]);
      touch(chain[i]);
    });
}

inline double peak_f32() {
  Floats a = splat(0.999f), b = splat(0.001f);
  touch(a), touch(b);
  turn_chains([&](Floats c) STORMCELL_UNROLLED { return fma(c, a, b); });
  return 2.0 * kLanes * kPeakChains * kPeakTurns;
}

inline double peak_bf16() {
#ifdef __AVX512BF16__
  Floats a = splat(0.5f);
  touch(a);
  turn_chains([&](Floats c) STORMCELL_UNROLLED { return _mm512_dpbf16_ps(c, (__m512bh)a, (__m512bh)a); });
  return 4.0 * kLanes * kPeakChains * kPeakTurns;
#else
  return peak_f32();  // widened, the products run on the same ports
#endif
}

}  // namespace stormcell::cpu::STORMCELL_ISA
