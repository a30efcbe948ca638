// Moving rows between cells and slots. A warp takes a row; a thread moves sixteen bytes, four of them in flight.
// Bound: copy bandwidth.
#pragma once
#include "core/cell/decision.h"
#include "gpu/base/execution.h"

namespace stormcell::gpu {

struct DispatchArgs {
  const int32_t* slots = nullptr;  ///< [1] how many there are
  const int32_t* cell = nullptr;   ///< [slots]
  const Sixteen* from = nullptr;   ///< [cells, pieces]
  Sixteen* to = nullptr;           ///< [slots, pieces]
  int32_t pieces = 0;              ///< of sixteen bytes in a row
};

/// to[slot] = from[cell of the slot]
struct DispatchKernel {
  using Args = DispatchArgs;
  using Shared = Nothing;
  static constexpr int kThreads = 256;

  template <class X>
  STORMCELL_DEVICE static void run(X& x, const Args& a) {
    constexpr int kAtOnce = 4;
    const int lane = x.thread() % 32;
    const int32_t slots = *a.slots;
    const int64_t warps = static_cast<int64_t>(x.blocks()) * (kThreads / 32);
    for (int64_t slot = static_cast<int64_t>(x.block()) * (kThreads / 32) + x.thread() / 32; slot < slots; slot += warps) {
      const Sixteen* from = a.from + static_cast<int64_t>(a.cell[slot]) * a.pieces;
      Sixteen* to = a.to + slot * a.pieces;
      for (int32_t first = lane; first < a.pieces; first += 32 * kAtOnce) {
        Sixteen piece[kAtOnce];
        STORMCELL_UNROLL
        for (int i = 0; i < kAtOnce; ++i)
          if (first + 32 * i < a.pieces) piece[i] = from[first + 32 * i];
        STORMCELL_UNROLL
        for (int i = 0; i < kAtOnce; ++i)
          if (first + 32 * i < a.pieces) to[first + 32 * i] = piece[i];
      }
    }
  }
};

struct CombineArgs {
  const int32_t* slot = nullptr;         ///< [cells, fan_out], negative: none
  const int32_t* choice = nullptr;       ///< [cells, fan_out], with `dropped`
  const float* choice_weight = nullptr;  ///< [cells, fan_out]; null: every weight is 1
  const Sixteen* from = nullptr;         ///< [slots, pieces]
  const Sixteen* dropped = nullptr;      ///< [cells, pieces]: what a dropped choice contributes; null: nothing
  Sixteen* to = nullptr;                 ///< [cells, pieces]
  int32_t cells = 0, fan_out = 1, pieces = 0;
  bool unrouted_only = false;  ///< leave cells with a slot alone: a product has stored them
};

/// Sixteen bytes of numbers as floats.
template <class T>
struct Piece;
template <>
struct Piece<float> {
  static constexpr int kNumbers = 4;
  STORMCELL_BOTH static float get(const Sixteen& piece, int i) { return float_of_bits(piece.word[i]); }
  STORMCELL_BOTH static void put(Sixteen& piece, const float (&value)[kNumbers]) {
    STORMCELL_UNROLL
    for (int i = 0; i < kNumbers; ++i) piece.word[i] = bits_of_float(value[i]);
  }
};
template <>
struct Piece<Bf16> {
  static constexpr int kNumbers = 8;
  STORMCELL_BOTH static float get(const Sixteen& piece, int i) {
    return i % 2 == 0 ? low_bf16(piece.word[i / 2]) : high_bf16(piece.word[i / 2]);
  }
  STORMCELL_BOTH static void put(Sixteen& piece, const float (&value)[kNumbers]) {
    STORMCELL_UNROLL
    for (int i = 0; i < kNumbers / 2; ++i) piece.word[i] = two_bf16(value[2 * i], value[2 * i + 1]);
  }
};

/// to[cell] = sum over the cell's choices, in their order and in float, of weight * from[slot]; rounded once.
template <class T>
struct CombineKernel {
  using Args = CombineArgs;
  using Shared = Nothing;
  static constexpr int kThreads = 256;

  template <class X>
  STORMCELL_DEVICE static void run(X& x, const Args& a) {
    constexpr int kNumbers = Piece<T>::kNumbers;
    const int lane = x.thread() % 32;
    const int64_t warps = static_cast<int64_t>(x.blocks()) * (kThreads / 32);
    for (int64_t cell = static_cast<int64_t>(x.block()) * (kThreads / 32) + x.thread() / 32; cell < a.cells; cell += warps) {
      const int32_t* slot = a.slot + cell * a.fan_out;
      const float* weight = a.choice_weight ? a.choice_weight + cell * a.fan_out : nullptr;
      if (a.unrouted_only && is_routed(slot, a.fan_out)) continue;
      for (int32_t p = lane; p < a.pieces; p += 32) {
        float sum[kNumbers] = {};
        for (int32_t j = 0; j < a.fan_out; ++j) {
          const bool has_slot = slot[j] >= 0;
          if (!has_slot && !(a.dropped && was_dropped(a.choice[cell * a.fan_out + j]))) continue;
          const Sixteen piece = has_slot ? a.from[static_cast<int64_t>(slot[j]) * a.pieces + p] : a.dropped[cell * a.pieces + p];
          const float w = weight ? weight[j] : 1.0f;
          STORMCELL_UNROLL
          for (int i = 0; i < kNumbers; ++i) sum[i] += w * Piece<T>::get(piece, i);
        }
        Piece<T>::put(a.to[cell * a.pieces + p], sum);
      }
    }
  }

 private:
  STORMCELL_DEVICE static bool was_dropped(int32_t choice) { return choice < 0 && choice != kNoBranch; }
  STORMCELL_DEVICE static bool is_routed(const int32_t* slot, int32_t fan_out) {
    bool routed = false;
    for (int32_t j = 0; j < fan_out; ++j) routed |= slot[j] >= 0;
    return routed;
  }
};

}  // namespace stormcell::gpu
