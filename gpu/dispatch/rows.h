// Moves rows between cells and slots. A thread moves sixteen bytes, four of them in flight. A warp of dispatch takes a
// row. A warp of combine takes four loads a lane: the same 32 pieces of four choices each, or four times as many of one
// choice, so that a few cells with many choices still give enough warps to hide latencies. Bound: copy bandwidth.
#pragma once
#include "core/cell/decision.h"
#include "gpu/base/execution.h"

namespace stormcell::gpu {

struct DispatchArgs {
  const int32_t* slot_count = nullptr;  ///< [1] how many there are
  const int32_t* cell = nullptr;        ///< [slots]
  const Sixteen* from = nullptr;        ///< [cells, pieces]
  Sixteen* to = nullptr;                ///< [slots, pieces]
  int32_t pieces = 0;                   ///< of sixteen bytes in a row
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
    const int32_t slot_count = *a.slot_count;
    const int64_t warps = static_cast<int64_t>(x.blocks()) * (kThreads / 32);
    for (int64_t slot = static_cast<int64_t>(x.block()) * (kThreads / 32) + x.thread() / 32; slot < slot_count;
         slot += warps) {
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
  const Sixteen* dropped = nullptr;      ///< [cells, pieces]: contribution of a dropped choice; null: nothing
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
    if (a.fan_out == 1)
      take_groups(x, a, [&](int64_t cell, int32_t p) { put_row(a, cell, p); });
    else
      take_groups(x, a, [&](int64_t cell, int32_t p) { put_sum(a, cell, p); });
  }

  /// Number of warps for a cell.
  STORMCELL_BOTH static constexpr int32_t groups_of(int32_t pieces, int32_t fan_out) {
    return parts(pieces, group_pieces(fan_out));
  }

 private:
  // a lane has on their way: so many choices of a piece, or pieces of a cell's only choice
  static constexpr int kLoads = 4;
  STORMCELL_BOTH static constexpr int32_t group_pieces(int32_t fan_out) { return fan_out == 1 ? 32 * kLoads : 32; }

  /// body(cell, this lane's first piece) for the groups of pieces that are this warp's.
  template <class X, class Body>
  STORMCELL_DEVICE static void take_groups(X& x, const Args& a, const Body& body) {
    const auto groups = static_cast<uint32_t>(groups_of(a.pieces, a.fan_out));
    const uint32_t warps = static_cast<uint32_t>(x.blocks()) * (kThreads / 32),
                   warp = static_cast<uint32_t>(x.block()) * (kThreads / 32) + static_cast<uint32_t>(x.thread()) / 32;
    // Warps go on by this many; nothing is divided on the way.
    const uint32_t cells_on = warps / groups, groups_on = warps % groups;
    int64_t cell = warp / groups;
    for (uint32_t group = warp % groups; cell < a.cells; cell += cells_on, group += groups_on) {
      if (group >= groups) {
        group -= groups;
        if (++cell == a.cells) break;
      }
      if (a.unrouted_only && is_routed(a.slot + cell * a.fan_out, a.fan_out)) continue;
      body(cell, static_cast<int32_t>(group) * group_pieces(a.fan_out) + x.thread() % 32);
    }
  }
  /// The row that choice j of a cell contributes; null: none.
  STORMCELL_DEVICE static const Sixteen* row_of(const Args& a, int64_t cell, int32_t j) {
    if (j >= a.fan_out) return nullptr;
    const int32_t slot = a.slot[cell * a.fan_out + j];
    if (slot >= 0) return a.from + static_cast<int64_t>(slot) * a.pieces;
    return a.dropped && was_dropped(a.choice[cell * a.fan_out + j]) ? a.dropped + cell * a.pieces : nullptr;
  }
  STORMCELL_DEVICE static float weight_of(const Args& a, int64_t cell, int32_t j) {
    return a.choice_weight && j < a.fan_out ? a.choice_weight[cell * a.fan_out + j] : 1.0f;
  }
  STORMCELL_DEVICE static void add(float (&sum)[Piece<T>::kNumbers], float w, const Sixteen& piece) {
    STORMCELL_UNROLL
    for (int i = 0; i < Piece<T>::kNumbers; ++i) sum[i] += w * Piece<T>::get(piece, i);
  }
  /// Pieces p, p + 32, ... of a cell's only choice.
  STORMCELL_DEVICE static void put_row(const Args& a, int64_t cell, int32_t p) {
    const Sixteen* row = row_of(a, cell, 0);
    const float w = weight_of(a, cell, 0);
    Sixteen* to = a.to + cell * a.pieces;
    Sixteen piece[kLoads];
    STORMCELL_UNROLL
    for (int i = 0; i < kLoads; ++i)
      if (row && p + 32 * i < a.pieces) piece[i] = row[p + 32 * i];
    STORMCELL_UNROLL
    for (int i = 0; i < kLoads; ++i) {
      if (p + 32 * i >= a.pieces) continue;
      float sum[Piece<T>::kNumbers] = {};
      if (row) add(sum, w, piece[i]);
      Piece<T>::put(to[p + 32 * i], sum);
    }
  }
  /// Piece p of the sum over a cell's choices.
  STORMCELL_DEVICE static void put_sum(const Args& a, int64_t cell, int32_t p) {
    if (p >= a.pieces) return;
    float sum[Piece<T>::kNumbers] = {};
    for (int32_t first = 0; first < a.fan_out; first += kLoads) {
      const Sixteen* row[kLoads];
      float w[kLoads];
      Sixteen piece[kLoads];
      STORMCELL_UNROLL
      for (int i = 0; i < kLoads; ++i) row[i] = row_of(a, cell, first + i), w[i] = weight_of(a, cell, first + i);
      STORMCELL_UNROLL
      for (int i = 0; i < kLoads; ++i)
        if (row[i]) piece[i] = row[i][p];
      STORMCELL_UNROLL
      for (int i = 0; i < kLoads; ++i)
        if (row[i]) add(sum, w[i], piece[i]);
    }
    Piece<T>::put(a.to[cell * a.pieces + p], sum);
  }
  STORMCELL_DEVICE static bool was_dropped(int32_t choice) { return choice < 0 && choice != kNoBranch; }
  STORMCELL_DEVICE static bool is_routed(const int32_t* slot, int32_t fan_out) {
    bool routed = false;
    for (int32_t j = 0; j < fan_out; ++j) routed |= slot[j] >= 0;
    return routed;
  }
};

}  // namespace stormcell::gpu
