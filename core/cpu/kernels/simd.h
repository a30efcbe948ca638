// One vector type for every instruction set: the hot loops are written once on top of it and compiled once for each
// set.
//
// Included only by *.simd.h files, which kernels.<isa>.cpp compile inside a namespace of their own. The namespace is
// what keeps the binary runnable everywhere: an inline function shared with baseline code, compiled here with AVX-512,
// might be the copy the linker keeps. For the same reason the *.simd.h files use no function of the standard library
// that is a template or inline.
#pragma once
#include <cstddef>
#include <cstdint>

#ifndef STORMCELL_ISA  // so that each header compiles alone
#define STORMCELL_ISA isa_generic
#define STORMCELL_SIMD_BITS 128
#endif

#if STORMCELL_SIMD_BITS > 128
#include <immintrin.h>
#endif

#define STORMCELL_INLINE inline __attribute__((always_inline))
/// Follows the parameters of a lambda that static_for calls.
#define STORMCELL_UNROLLED __attribute__((always_inline))

namespace stormcell::cpu::STORMCELL_ISA {

#if STORMCELL_SIMD_BITS == 512
using Floats = __m512;
typedef int32_t Ints __attribute__((vector_size(64)));
#elif STORMCELL_SIMD_BITS == 256
using Floats = __m256;
typedef int32_t Ints __attribute__((vector_size(32)));
#else
typedef float Floats __attribute__((vector_size(16), may_alias));
typedef int32_t Ints __attribute__((vector_size(16)));
#endif

inline constexpr int kLanes = sizeof(Floats) / 4;

/// Calls f(Index<0>), f(Index<1>), ... An array of vectors stays in registers only if every loop over it is unrolled
/// before GCC splits it up; unrolling by pragma comes too late (measured: 2.4 to 4 times slower). The functions passed
/// must be always_inline as well.
template <int I>
struct Index {
  static constexpr int value = I;
  constexpr operator int() const { return I; }
};
template <int Begin, int End, class F>
STORMCELL_INLINE void static_for(F&& f) {
  if constexpr (Begin < End) {
    f(Index<Begin>{});
    static_for<Begin + 1, End>(f);
  }
}

STORMCELL_INLINE int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
STORMCELL_INLINE int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

#if STORMCELL_SIMD_BITS == 512
STORMCELL_INLINE Floats splat(float a) { return _mm512_set1_ps(a); }
STORMCELL_INLINE Floats load(const float* p) { return _mm512_loadu_ps(p); }
STORMCELL_INLINE void store(float* p, Floats a) { _mm512_storeu_ps(p, a); }
STORMCELL_INLINE Floats fma(Floats a, Floats b, Floats c) { return _mm512_fmadd_ps(a, b, c); }
/// The first `count` lanes, 0 < count < kLanes; the others are zero, and their memory is not touched.
STORMCELL_INLINE Floats load_part(const float* p, int64_t count) {
  return _mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << count) - 1), p);
}
STORMCELL_INLINE void store_part(float* p, Floats a, int64_t count) {
  _mm512_mask_storeu_ps(p, static_cast<__mmask16>((1u << count) - 1), a);
}
#elif STORMCELL_SIMD_BITS == 256
STORMCELL_INLINE Floats splat(float a) { return _mm256_set1_ps(a); }
STORMCELL_INLINE Floats load(const float* p) { return _mm256_loadu_ps(p); }
STORMCELL_INLINE void store(float* p, Floats a) { _mm256_storeu_ps(p, a); }
STORMCELL_INLINE Floats fma(Floats a, Floats b, Floats c) { return _mm256_fmadd_ps(a, b, c); }
STORMCELL_INLINE __m256i first_lanes(int64_t count) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
STORMCELL_INLINE Floats load_part(const float* p, int64_t count) { return _mm256_maskload_ps(p, first_lanes(count)); }
STORMCELL_INLINE void store_part(float* p, Floats a, int64_t count) { _mm256_maskstore_ps(p, first_lanes(count), a); }
#else
STORMCELL_INLINE Floats splat(float a) { return Floats{a, a, a, a}; }
STORMCELL_INLINE Floats load(const float* p) {
  Floats a;
  __builtin_memcpy(&a, p, sizeof a);
  return a;
}
STORMCELL_INLINE void store(float* p, Floats a) { __builtin_memcpy(p, &a, sizeof a); }
STORMCELL_INLINE Floats fma(Floats a, Floats b, Floats c) { return a * b + c; }
STORMCELL_INLINE Floats load_part(const float* p, int64_t count) {
  Floats a = splat(0);
  for (int64_t i = 0; i < count; ++i) a[i] = p[i];
  return a;
}
STORMCELL_INLINE void store_part(float* p, Floats a, int64_t count) {
  for (int64_t i = 0; i < count; ++i) p[i] = a[i];
}
#endif

STORMCELL_INLINE Floats as_floats(Ints a) { return __builtin_bit_cast(Floats, a); }
STORMCELL_INLINE Ints as_ints(Floats a) { return __builtin_bit_cast(Ints, a); }
STORMCELL_INLINE Ints splat_int(int32_t a) { return Ints{} + a; }
STORMCELL_INLINE Floats max(Floats a, Floats b) { return a > b ? a : b; }
STORMCELL_INLINE Floats min(Floats a, Floats b) { return a < b ? a : b; }

/// Calls f(i, count) for the whole vectors of [0, n) with count = kLanes, and once for the rest.
template <class F>
STORMCELL_INLINE void for_vectors(int64_t n, F&& f) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) f(i, Index<kLanes>{});
  if (i < n) f(i, n - i);
}
STORMCELL_INLINE Floats load_some(const float* p, Index<kLanes>) { return load(p); }
STORMCELL_INLINE Floats load_some(const float* p, int64_t count) { return load_part(p, count); }
STORMCELL_INLINE void store_some(float* p, Floats a, Index<kLanes>) { store(p, a); }
STORMCELL_INLINE void store_some(float* p, Floats a, int64_t count) { store_part(p, a, count); }
/// Past the caches: p is aligned as a vector. Other threads see it after end_non_temporal().
STORMCELL_INLINE void store_non_temporal(float* p, Floats a) {
#if STORMCELL_SIMD_BITS == 512
  _mm512_stream_ps(p, a);
#elif STORMCELL_SIMD_BITS == 256
  _mm256_stream_ps(p, a);
#else
  store(p, a);
#endif
}
STORMCELL_INLINE void end_non_temporal() {
#if STORMCELL_SIMD_BITS > 128
  _mm_sfence();
#endif
}
typedef uint32_t Words __attribute__((vector_size(sizeof(Floats))));
typedef uint16_t Halves __attribute__((vector_size(sizeof(Floats) / 2)));
/// f32 to bf16, nearest even, as core/base does it; bf16 dot products take what is below the least normal number as 0
/// anyway.
STORMCELL_INLINE Halves to_bf16(Floats a) {
#ifdef __AVX512BF16__
  return __builtin_bit_cast(Halves, _mm512_cvtneps_pbh(a));
#else
  const Words u = __builtin_bit_cast(Words, a), top = u >> 16;
  const Words rounded = (u + (top & 1) + 0x7fff) >> 16;
  return __builtin_convertvector((u & 0x7fffffffu) > 0x7f800000u ? (top | 0x40) : rounded, Halves);
#endif
}
STORMCELL_INLINE void store_some(uint16_t* p, Floats a, Index<kLanes>) {
  const Halves h = to_bf16(a);
  __builtin_memcpy(p, &h, sizeof h);
}
STORMCELL_INLINE void store_some(uint16_t* p, Floats a, int64_t count) {
  const Halves h = to_bf16(a);
  __builtin_memcpy(p, &h, static_cast<size_t>(count) * sizeof(uint16_t));
}
/// The way in which a loop stores whole vectors: through the caches, or past them.
struct Store {
  template <class Out, class Count>
  STORMCELL_INLINE static void at(Out* p, Floats a, Count count) {
    store_some(p, a, count);
  }
};
struct StoreNonTemporal {
  template <class Count>
  STORMCELL_INLINE static void at(float* p, Floats a, Count) {
    store_non_temporal(p, a);
  }
};
/// The first `count` lanes of v, the others from `rest`.
STORMCELL_INLINE Floats keep_lanes(Floats v, Floats, Index<kLanes>) { return v; }
STORMCELL_INLINE Floats keep_lanes(Floats v, Floats rest, int64_t count) {
  Ints lane;
  for (int i = 0; i < kLanes; ++i) lane[i] = i;
  return lane < splat_int(static_cast<int32_t>(count)) ? v : rest;
}

/// Sums and maxima over the lanes, halving: the order does not depend on where the row lies.
STORMCELL_INLINE float sum_lanes(Floats a) {
#if STORMCELL_SIMD_BITS > 128
#if STORMCELL_SIMD_BITS == 512
  const __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(a), _mm512_extractf32x8_ps(a, 1));
#else
  const __m256 eight = a;
#endif
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
#else
  float lane[kLanes];
  store(lane, a);
  for (int half = kLanes / 2; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) lane[i] += lane[i + half];
  return lane[0];
#endif
}
STORMCELL_INLINE float max_lanes(Floats a) {
  float lane[kLanes];
  store(lane, a);
  for (int half = kLanes / 2; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) lane[i] = lane[i] > lane[i + half] ? lane[i] : lane[i + half];
  return lane[0];
}

/// Fetches to L2: into L1, prefetches of few-row products take the fill buffers from its loads (4 rows of bf16: 335 us
/// against 290).
STORMCELL_INLINE void prefetch(const char* p) { __builtin_prefetch(p, 0, 2); }

}  // namespace stormcell::cpu::STORMCELL_ISA
