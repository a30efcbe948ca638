// Last steps on a product's sums before they are stored: bias, activation, gate, weight of the slot, row that the slot
// goes to.
#pragma once
#include <type_traits>

#include "gpu/base/activation.h"
#include "gpu/base/number.h"

namespace stormcell::gpu {

/// One grouped product: for every expert e and its slots s, y = epilogue(x[s] . w[e]^T).
/// Gated: w has 2n rows an expert, those of the gate first, and y = activation(gate) * up; else y = activation(x .
/// w^T).
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
  template <int kPanels>
  STORMCELL_BOTH const T* weights_of(int32_t expert) const {
    return w + static_cast<int64_t>(expert) * kPanels * n * k;
  }
  /// The place of a slot's results, and its factor.
  struct Result {
    T* y;
    float weight;
  };
  STORMCELL_BOTH Result result_of(int32_t slot) const { return {y + target_row(slot) * n, slot_weight(slot)}; }
  template <int kPanels>
  STORMCELL_BOTH void store(const Result& to, int32_t expert, int32_t column, const float (&sum)[kPanels]) const {
    to.y[column] = number<T>(finish(expert, column, sum, to.weight));
  }
};

/// The same for a whole tile: which activation, whether there is a bias and whether slots have rows or weights of their
/// own is decided once.
template <Activation kActivation, bool kBias_, bool kOfSlots_>
struct Epilogue {
  static constexpr bool kBias = kBias_, kOfSlots = kOfSlots_;
  template <int kPanels>
  STORMCELL_BOTH static float finish(const float (&sum)[kPanels], const float (&bias)[kPanels]) {
    float value = activate<kActivation>(kBias ? sum[0] + bias[0] : sum[0]);
    if constexpr (kPanels == 2) value *= kBias ? sum[1] + bias[1] : sum[1];
    return value;
  }
};
/// Decided for each number: everything else, whose copies would be most of a kernel's code.
struct AnyEpilogue {
  static constexpr bool kBias = true, kOfSlots = true;
  Activation activation;
  template <int kPanels>
  STORMCELL_BOTH float finish(const float (&sum)[kPanels], const float (&bias)[kPanels]) const {
    float value = activate(activation, sum[0] + bias[0]);
    if constexpr (kPanels == 2) value *= sum[1] + bias[1];
    return value;
  }
};
/// body(the epilogue of these arguments). Its own copies has what layers do: a first product with ReLU, gated with
/// SiLU; a second without an activation, whose slots may have rows and weights of their own.
template <int kPanels, class T, class Body>
STORMCELL_BOTH void with_epilogue(const ProductArgs<T>& a, const Body& body) {
  constexpr Activation kFirst = kPanels == 2 ? Activation::silu : Activation::relu;
  const bool of_slots = a.scatter || a.weight;
  if (a.activation == kFirst && !of_slots)
    return a.bias ? body(Epilogue<kFirst, true, false>()) : body(Epilogue<kFirst, false, false>());
  if constexpr (kPanels == 1) {
    constexpr Activation kNone = Activation::none;
    if (a.activation == kNone && of_slots)
      return a.bias ? body(Epilogue<kNone, true, true>()) : body(Epilogue<kNone, false, true>());
    if (a.activation == kNone)
      return a.bias ? body(Epilogue<kNone, true, false>()) : body(Epilogue<kNone, false, false>());
  }
  body(AnyEpilogue{a.activation});
}

}  // namespace stormcell::gpu
