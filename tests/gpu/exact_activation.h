// Activations of grouped products in double, as their definitions say.
#pragma once
#include <algorithm>
#include <cmath>

#include "gpu/grouped/grouped.h"

namespace stormcell::testing {

inline double exact_activation(gpu::Activation kind, double v) {
  switch (kind) {
    case gpu::Activation::relu:
      return std::max(v, 0.0);
    case gpu::Activation::gelu_erf:
      return 0.5 * v * (1 + std::erf(v / std::sqrt(2.0)));
    case gpu::Activation::gelu_tanh:
      return 0.5 * v * (1 + std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v)));
    case gpu::Activation::silu:
      return v / (1 + std::exp(-v));
    default:
      return v;
  }
}

}  // namespace stormcell::testing
