// What happens to a product's sums before they are stored: bias, activation, gate, weight of the slot, row that the slot goes to.
#pragma once
#include "gpu/base/number.h"

namespace stormcell::gpu {

enum class Activation : uint8_t {
  none,
  relu,
  gelu_erf,   ///< x/2 (1 + erf(x / sqrt 2))
  gelu_tanh,  ///< x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
  silu,       ///< x / (1 + exp(-x))
};

STORMCELL_BOTH inline float activate(Activation activation, float x) {
  switch (activation) {
    case Activation::relu:
      return x < 0 ? 0.0f : x;  // NaN stays
    case Activation::gelu_erf:
      return 0.5f * x * (1 + erff(x * 0.70710678118654752f));
    case Activation::gelu_tanh:
      return 0.5f * x * (1 + tanhf(0.79788456080286536f * (x + 0.044715f * x * x * x)));
    case Activation::silu:
      return x / (1 + expf(-x));
    default:
      return x;
  }
}

/// One grouped product: for every expert e and its slots s, y = epilogue(x[s] . w[e]^T).
/// Gated: w has 2n rows an expert, those of the gate first, and y = activation(gate) * up; else y = activation(x . w^T).
template <class T>
struct ProductArgs {
  const int32_t* offsets = nullptr;  ///< [experts + 1] slots of each expert
  int32_t* map = nullptr;            ///< the tile map made from them
  int32_t n = 0, k = 0;              ///< numbers of a row of y and of x
  const T* x = nullptr;              ///< [slots, k], or [cells, k] with `gather`
  const int32_t* gather = nullptr;   ///< [slots] row of x that a slot reads; null: its own
  const T* w = nullptr;              ///< [experts, n or 2n, k]
  const float* bias = nullptr;       ///< [experts, n or 2n]; null: none
  Activation activation = Activation::none;
  T* y = nullptr;                    ///< [slots, n], or [cells, n] with `scatter`
  const int32_t* scatter = nullptr;  ///< [slots] row of y that a slot writes; null: its own
  const float* weight = nullptr;     ///< [slots] factor of a slot; null: 1

  STORMCELL_BOTH int64_t source_row(int32_t slot) const { return gather ? gather[slot] : slot; }
  STORMCELL_BOTH int64_t target_row(int32_t slot) const { return scatter ? scatter[slot] : slot; }
  STORMCELL_BOTH float slot_weight(int32_t slot) const { return weight ? weight[slot] : 1.0f; }
  /// The number to store: `sum` holds the panels' sums of column c.
  template <int kPanels>
  STORMCELL_BOTH float finish(int32_t expert, int32_t c, const float (&sum)[kPanels], float slot_weight) const {
    const float* b = bias ? bias + static_cast<int64_t>(expert) * n * kPanels + c : nullptr;
    float value = activate(activation, sum[0] + (b ? b[0] : 0.0f));
    if constexpr (kPanels == 2) value *= sum[1] + (b ? b[n] : 0.0f);
    return value * slot_weight;
  }
};

}  // namespace stormcell::gpu
