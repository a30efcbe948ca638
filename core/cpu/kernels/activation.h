// The activation functions that the kernels know.
#pragma once
#include <cstdint>

namespace stormcell::cpu {

enum class Activation : uint8_t {
  none,
  relu,
  gelu_erf,   ///< x/2 (1 + erf(x / sqrt 2)): PyTorch's default GELU
  gelu_tanh,  ///< x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))): "gelu_new", "gelu_pytorch_tanh"
  silu,       ///< x / (1 + exp(-x))
  tanh,
  sigmoid,  ///< 1 / (1 + exp(-x))
};

}  // namespace stormcell::cpu
