// Products as nodes of a plan: over the rows of one branch, over all rows, or over all branches of a decision at once.
// Counts come from the rows table or from the decision, weights from their handles. Everything that follows a product
// is done before it is stored. The tiles are those of the plain kernel (plain.h).
#pragma once
#include "gpu/grouped/plain.h"
#include "gpu/pointwise/pointwise.h"
#include "gpu/rows/groups.h"

namespace stormcell::gpu {

struct PlannedProductArgs : KernelArgs<7> {
  /// kOffsets: the first row of each branch, where the rows are the members of slots.
  enum { kX, kTo, kMultiply, kResidual, kDecision, kMap, kOffsets };
  int64_t handles = 0, biases = 0;  ///< constants, by branch: handles of weights and of biases; a product of rows: one
  int32_t n = 0, k = 0;
  float scale = 1;
  PointwiseOp activation = PointwiseOp::constant;  ///< constant: none
  Format to = Format::f32;
  bool has_bias = false, residual_first = false;
  bool from_cells = false;  ///< x holds the decision's cells, not its slots
  DecisionPlaces decision;
};

/// The arguments of one product as its tiles take them.
template <class T>
struct BranchProduct {
  int32_t n, k;
  const T* x;
  const int32_t* gather;
  const PlannedProductArgs* args;
  const float *multiply, *residual;
  char* y;

  STORMCELL_BOTH int64_t source_row(int32_t slot) const { return gather ? gather[slot] : slot; }
  template <int kPanels>
  STORMCELL_BOTH const T* weights_of(int32_t branch) const {
    return args->weight<T>(args->constants<int32_t>(args->handles)[branch]);
  }
  STORMCELL_BOTH int64_t result_of(int32_t slot) const { return static_cast<int64_t>(slot) * n; }
  STORMCELL_BOTH void store(int64_t row, int32_t branch, int32_t column, const float (&sum)[1]) const {
    const int64_t at = row + column;
    float value = sum[0] * args->scale;
    if (args->has_bias) value += args->weight<float>(args->constants<int32_t>(args->biases)[branch])[column];
    if (residual && args->residual_first) value += residual[at];
    if (args->activation != PointwiseOp::constant) value = activated(args->activation, value);
    if (multiply) value *= multiply[at];
    if (residual && !args->residual_first) value += residual[at];
    if (args->to == Format::bf16)
      reinterpret_cast<Bf16*>(y)[at] = to_bf16(value);
    else
      reinterpret_cast<float*>(y)[at] = value;
  }
};

/// T: type of x and of the weights.
template <class T>
struct PlannedProductKernel {
  using Args = PlannedProductArgs;
  using OneTile = PlainTile<1>;
  using Shared = OneTile::Shared;
  static constexpr const char* kName = "product";
  static constexpr int kThreads = OneTile::kThreads;
  static constexpr bool kIndependent = false;

  template <class X>
  STORMCELL_DEVICE static void run(X& x, const Args& a) {
    if (!a.is_due()) return;
    BranchProduct<T> p{a.n,     a.k,     a.in<T>(a.ref[Args::kX]),     nullptr, &a,
                       nullptr, nullptr, a.out<char>(a.ref[Args::kTo])};
    if (a.has(Args::kMultiply)) p.multiply = a.in<float>(a.ref[Args::kMultiply]);
    if (a.has(Args::kResidual)) p.residual = a.in<float>(a.ref[Args::kResidual]);
    const int32_t column_blocks = parts(a.n, OneTile::kColumns);
    if (a.has(Args::kDecision))
      of_branches(x, a, p, column_blocks);
    else
      of_rows(x, a, p, column_blocks);
  }

 private:
  template <class X>
  STORMCELL_DEVICE static void of_rows(X& x, const Args& a, const BranchProduct<T>& p, int32_t column_blocks) {
    const int32_t rows = a.rows(a.ref[Args::kTo]).rows, row_blocks = parts(rows, OneTile::kRows);
    if (!p.template weights_of<1>(0)) return;
    for (int64_t t = x.block(); t < static_cast<int64_t>(row_blocks) * column_blocks; t += x.blocks()) {
      Tile tile;
      tile.first = static_cast<int32_t>(t % row_blocks) * OneTile::kRows;
      tile.rows = least(OneTile::kRows + 0, rows - tile.first);
      tile.column_block = static_cast<int32_t>(t / row_blocks);
      OneTile::compute(x, p, tile);
    }
  }
  template <class X>
  STORMCELL_DEVICE static void of_branches(X& x, const Args& a, BranchProduct<T>& p, int32_t column_blocks) {
    const DecisionView d = a.decision.at(a.address(a.ref[Args::kDecision]));
    if (a.from_cells) p.gather = d.cell;
    const TileList list = tile_list(const_cast<int32_t*>(a.in<int32_t>(a.ref[Args::kMap])), Regime::plain);
    const int64_t tiles = tiles_of(list, column_blocks);
    const int32_t* offsets = a.has(Args::kOffsets) ? a.in<int32_t>(a.ref[Args::kOffsets]) : d.offsets;
    for (int64_t t = x.block(); t < tiles; t += x.blocks()) {
      const Tile tile = find_tile(list, offsets, column_blocks, OneTile::kRows + 0, t);
      if (p.template weights_of<1>(tile.expert)) OneTile::compute(x, p, tile);  // else the branch has no product
    }
  }
};

/// The tile map of all products over the slots of a decision, over their members, or over what each of these has.
struct PlannedMapArgs : KernelArgs<4> {
  /// kMembers: the ragged value of the rows; none: they are the slots. kOffsets: gets the first row of each branch, where
  /// the decision does not say it.
  enum { kDecision, kMap, kMembers, kOffsets };
  DecisionPlaces decision;
  RaggedPlaces members;
  RegimeLimits limits;
  int32_t times = 1;  ///< rows of a slot, or of a member: the pixels of a map
};
struct PlannedMapKernel {
  using Args = PlannedMapArgs;
  using Block = TileMapBlock<256>;
  using Shared = Block::Shared;
  static constexpr const char* kName = "tile map";
  static constexpr int kThreads = 256;
  static constexpr bool kIndependent = false;

  template <class X>
  STORMCELL_DEVICE static void run(X& x, const Args& a) {
    if (!a.is_due()) return;
    TileMapArgs args;
    args.offsets = reinterpret_cast<const int32_t*>(a.in<char>(a.ref[Args::kDecision]) + a.decision.offsets);
    args.experts = a.decision.branches;
    if (a.has(Args::kOffsets)) args.offsets = counted(x, a, args.offsets);
    args.limits = a.limits;
    args.map = a.out<int32_t>(a.ref[Args::kMap]);
    Block::run(x, args);
  }

 private:
  /// `first_slots`: the first slot of each branch.
  template <class X>
  STORMCELL_DEVICE static const int32_t* counted(X& x, const Args& a, const int32_t* first_slots) {
    const int32_t* members = nullptr;
    if (a.has(Args::kMembers))
      members = reinterpret_cast<const int32_t*>(a.in<char>(a.ref[Args::kMembers]) + a.members.offsets);
    auto* offsets = a.out<int32_t>(a.ref[Args::kOffsets]);
    for (int32_t b = x.thread(); b <= a.decision.branches; b += kThreads)
      offsets[b] = (members ? members[first_slots[b]] : first_slots[b]) * a.times;
    x.sync();
    return offsets;
  }
};

}  // namespace stormcell::gpu
