// exp, erf and the activation functions on vectors. Polynomials fitted for this file (least squares, reweighted towards
// equal error).
//
// Errors against double, over all floats of the range: exp 1.2e-7 relative, gelu and silu 2e-7 of max(|x|, 1), tanh and
// sigmoid 2e-7 relative.
#pragma once
#include "core/cpu/kernels/activation.h"
#include "core/cpu/kernels/simd.h"

namespace stormcell::cpu::STORMCELL_ISA {

/// e^x: exactly 0 below -87.3 (a masked score), at most 2.2e38 above 88.3; NaN stays NaN.
STORMCELL_INLINE Floats exp(Floats x) {
  const Floats lowest = splat(-87.33654f), highest = splat(88.3f);
  Floats y = x < lowest ? lowest : x;
  y = y > highest ? highest : y;
  // x = n ln 2 + r, |r| <= ln 2 / 2. Adding 1.5 * 2^23 rounds to the nearest integer and leaves it in the low bits.
  const Floats magic = splat(12582912.0f);
  const Floats shifted = fma(y, splat(1.44269504f), magic);
  const Floats n = shifted - magic;
  Floats r = fma(n, splat(-0.693145752f), y);
  r = fma(n, splat(-1.42860677e-6f), r);
  Floats p = splat(1.38144102e-3f);
  p = fma(p, r, splat(8.36877991e-3f));
  p = fma(p, r, splat(4.16683964e-2f));
  p = fma(p, r, splat(1.66665196e-1f));
  p = fma(p, r, splat(4.99999940e-1f));
  p = fma(p, r, splat(1.0f));
  p = fma(p, r, splat(1.0f));
  const Floats power = as_floats((as_ints(shifted) << 23) + splat_int(127 << 23));  // 2^n
  return x < lowest ? splat(0) : p * power;
}

/// erfc(z) for z >= 0: exp(-z^2) times a polynomial in 1 / (1 + 0.44 z), 1.8e-7 relative.
STORMCELL_INLINE Floats erfc_positive(Floats z) {
  const Floats t = splat(1) / fma(z, splat(0.44f), splat(1));
  Floats p = splat(0.0712253824f);
  p = fma(p, t, splat(-0.277954817f));
  p = fma(p, t, splat(0.296697050f));
  p = fma(p, t, splat(-0.0201873612f));
  p = fma(p, t, splat(0.215814576f));
  p = fma(p, t, splat(0.217313215f));
  p = fma(p, t, splat(0.248871177f));
  p = fma(p, t, splat(0.248220965f));
  return p * t * exp(-z * z);
}

/// Near 0, where the difference of exponentials would cancel, an odd polynomial.
STORMCELL_INLINE Floats tanh(Floats x) {
  const Floats size = x < splat(0) ? -x : x, square = x * x;
  Floats p = splat(-0.0058951024f);
  p = fma(p, square, splat(0.0207959283f));
  p = fma(p, square, splat(-0.0537838191f));
  p = fma(p, square, splat(0.133319244f));
  p = fma(p, square, splat(-0.333332986f));
  const Floats near = fma(x * square, p, x), far = splat(1) - splat(2) / (splat(1) + exp(size + size));
  return size < splat(0.6f) ? near : x < splat(0) ? -far : far;
}

template <Activation kind>
STORMCELL_INLINE Floats activate(Floats x) {
  if constexpr (kind == Activation::relu) {
    return x < splat(0) ? splat(0) : x;  // NaN stays
  } else if constexpr (kind == Activation::gelu_erf) {
    const Floats z = x * splat(0.707106781f);
    const Floats tail = x * splat(0.5f) * erfc_positive(z < splat(0) ? -z : z);
    return x < splat(0) ? tail : x - tail;
  } else if constexpr (kind == Activation::gelu_tanh) {
    const Floats u = x * fma(x * x, splat(2 * 0.0356774081f), splat(2 * 0.797884561f));
    return x / (splat(1) + exp(-u));  // (1 + tanh(u / 2)) / 2 = 1 / (1 + exp(-u))
  } else if constexpr (kind == Activation::silu) {
    return x / (splat(1) + exp(-x));
  } else if constexpr (kind == Activation::tanh) {
    return tanh(x);
  } else if constexpr (kind == Activation::sigmoid) {
    return splat(1) / (splat(1) + exp(-x));
  } else {
    return x;
  }
}

/// Calls f with the activation as a type, so that the choice is made outside the loop.
template <Activation kind>
struct ActivationConstant {
  static constexpr Activation value = kind;
};
template <class F>
STORMCELL_INLINE void with_activation(Activation kind, F&& f) {
  switch (kind) {
    case Activation::none:
      return f(ActivationConstant<Activation::none>{});
    case Activation::relu:
      return f(ActivationConstant<Activation::relu>{});
    case Activation::gelu_erf:
      return f(ActivationConstant<Activation::gelu_erf>{});
    case Activation::gelu_tanh:
      return f(ActivationConstant<Activation::gelu_tanh>{});
    case Activation::silu:
      return f(ActivationConstant<Activation::silu>{});
    case Activation::tanh:
      return f(ActivationConstant<Activation::tanh>{});
    case Activation::sigmoid:
      return f(ActivationConstant<Activation::sigmoid>{});
  }
}

}  // namespace stormcell::cpu::STORMCELL_ISA
