// Loops over single elements and single rows.
//
// Limit: memory traffic; argmax and softmax of a row in L1 take about 1 and 4 cycles a vector.
#pragma once
#include "core/cpu/kernels/norm.simd.h"
#include "core/cpu/kernels/vector_math.simd.h"

namespace stormcell::cpu::STORMCELL_ISA {

// `Out`: float, or uint16_t for bf16.
template <class Out>
inline void activate_all(Activation kind, const float* x, int64_t n, Out* y) {
  with_activation(kind, [&](auto activation) {
    for_vectors(n, [&](int64_t i, auto count) {
      store_some(y + i, activate<decltype(activation)::value>(load_some(x + i, count)), count);
    });
  });
}
inline void add(const float* a, const float* b, int64_t n, float* y) {
  for_vectors(
      n, [&](int64_t i, auto count) { store_some(y + i, load_some(a + i, count) + load_some(b + i, count), count); });
}
template <class Out>
inline void multiply(const float* a, const float* b, int64_t n, Out* y) {
  for_vectors(
      n, [&](int64_t i, auto count) { store_some(y + i, load_some(a + i, count) * load_some(b + i, count), count); });
}
/// NaN wins, as in PyTorch's pooling.
inline void larger_of(const float* a, const float* b, int64_t n, float* y) {
  for_vectors(n, [&](int64_t i, auto count) {
    const Floats x = load_some(a + i, count), z = load_some(b + i, count);
    store_some(y + i, (x > z || x != x) ? x : z, count);
  });
}
inline void scale(const float* x, float factor, int64_t n, float* y) {
  for_vectors(n, [&](int64_t i, auto count) { store_some(y + i, load_some(x + i, count) * splat(factor), count); });
}
inline void copy_non_temporal(const float* x, int64_t n, float* y) {
  int64_t i = 0;
  for (; i < n && reinterpret_cast<uintptr_t>(y + i) % sizeof(Floats) != 0; ++i) y[i] = x[i];
  for (; i + kLanes <= n; i += kLanes) store_non_temporal(y + i, load(x + i));
  for (; i < n; ++i) y[i] = x[i];
  end_non_temporal();
}
inline float sum(const float* x, int64_t n) {
  return sum_row(x, n, [](Floats v) { return v; });
}

inline void softmax_rows(const float* x, int64_t rows, int64_t d, float* y) {
  for (int64_t r = 0; r < rows; ++r, x += d, y += d) {
    float largest = x[0];
    Floats m = splat(x[0]);
    int64_t i = 0;
    for (; i + kLanes <= d; i += kLanes) m = max(load(x + i), m);
    for (; i < d; ++i) largest = x[i] > largest ? x[i] : largest;
    const float in_vectors = max_lanes(m);
    largest = in_vectors > largest ? in_vectors : largest;
    Floats total = splat(0);
    for_vectors(d, [&](int64_t j, auto count) {
      const Floats e = exp(load_some(x + j, count) - splat(largest));
      total = total + keep_lanes(e, splat(0), count);
      store_some(y + j, e, count);
    });
    scale(y, 1.0f / sum_lanes(total), d, y);
  }
}

inline void argmax_rows(const float* x, int64_t rows, int64_t d, int32_t* index, float* value) {
  for (int64_t r = 0; r < rows; ++r, x += d) {
    // One candidate a lane; a later element must be strictly larger, or the first that is a number.
    Floats best = splat(0);
    Ints at = splat_int(-1), here;
    for (int lane = 0; lane < kLanes; ++lane) here[lane] = lane;
    int64_t i = 0;
    for (; i + kLanes <= d; i += kLanes, here += kLanes) {
      const Floats v = load(x + i);
      const Ints wins = (v > best && at >= 0) || (v == v && at < 0);
      best = wins ? v : best;
      at = wins ? here : at;
    }
    int32_t winner = -1;
    float most = 0;
    const auto offer = [&](float v, int32_t position) {
      if (v == v && (winner < 0 || v > most || (v == most && position < winner))) winner = position, most = v;
    };
    for (int lane = 0; lane < kLanes; ++lane)
      if (at[lane] >= 0) offer(best[lane], at[lane]);
    for (; i < d; ++i) offer(x[i], static_cast<int32_t>(i));
    index[r] = winner < 0 ? 0 : winner;
    if (value) value[r] = x[index[r]];
  }
}

inline void widen_row(const uint16_t* from, float factor, int64_t n, float* to) {
  for (int64_t i = 0; i < n; ++i) {
    const uint32_t bits = static_cast<uint32_t>(from[i]) << 16;
    to[i] = __builtin_bit_cast(float, bits) * factor;
  }
}

inline void combine_row(const float* y, int64_t d, const int32_t* slot_of, const float* weight, int32_t fan_out,
                        const float* residual, float* out) {
  for_vectors(d, [&](int64_t i, auto count) {
    Floats v = residual ? load_some(residual + i, count) : splat(0);
    for (int32_t j = 0; j < fan_out; ++j)
      if (slot_of[j] >= 0) v = fma(splat(weight ? weight[j] : 1.0f), load_some(y + slot_of[j] * d + i, count), v);
    store_some(out + i, v, count);
  });
}

inline void rotate(float* a, float* b, const float* cosines, const float* sines, int64_t half) {
  for_vectors(half, [&](int64_t i, auto count) {
    const Floats x = load_some(a + i, count), y = load_some(b + i, count), c = load_some(cosines + i, count),
                 s = load_some(sines + i, count);
    store_some(a + i, x * c - y * s, count);
    store_some(b + i, y * c + x * s, count);
  });
}

}  // namespace stormcell::cpu::STORMCELL_ISA
