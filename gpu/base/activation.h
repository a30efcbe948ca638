// Activations, with the same formulas on host and device.
#pragma once
#include <type_traits>

#include "gpu/base/number.h"

namespace stormcell::gpu {

enum class Activation : uint8_t {
  none,
  relu,
  gelu_erf,   ///< x/2 (1 + erf(x / sqrt 2))
  gelu_tanh,  ///< x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
  silu,       ///< x / (1 + exp(-x))
};

/// The larger of x and 0; NaN stays.
STORMCELL_BOTH inline float rectified(float x) {
#if defined(__CUDA_ARCH__)
  float value = 0;
  asm("max.NaN.f32 %0, %1, 0f00000000;" : "=f"(value) : "f"(x));
  return value;
#else
  return x < 0 ? 0.0f : x;
#endif
}
template <Activation kActivation>
STORMCELL_BOTH inline float activate(float x) {
  if constexpr (kActivation == Activation::relu)
    return rectified(x);
  else if constexpr (kActivation == Activation::gelu_erf)
    return 0.5f * x * (1 + erff(x * 0.70710678118654752f));
  else if constexpr (kActivation == Activation::gelu_tanh)
    return 0.5f * x * (1 + tanhf(0.79788456080286536f * (x + 0.044715f * x * x * x)));
  else if constexpr (kActivation == Activation::silu)
    return x / (1 + expf(-x));
  else
    return x;
}
/// Calls body(a value of std::integral_constant<Activation, ...>): decided once, it needs no branch for each number.
template <class Body>
STORMCELL_BOTH void with_activation(Activation activation, const Body& body) {
  switch (activation) {
    case Activation::relu:
      return body(std::integral_constant<Activation, Activation::relu>());
    case Activation::gelu_erf:
      return body(std::integral_constant<Activation, Activation::gelu_erf>());
    case Activation::gelu_tanh:
      return body(std::integral_constant<Activation, Activation::gelu_tanh>());
    case Activation::silu:
      return body(std::integral_constant<Activation, Activation::silu>());
    default:
      return body(std::integral_constant<Activation, Activation::none>());
  }
}
STORMCELL_BOTH inline float activate(Activation activation, float x) {
  float value = 0;
  with_activation(activation, [&](auto kind) { value = activate<decltype(kind)::value>(x); });
  return value;
}

}  // namespace stormcell::gpu
