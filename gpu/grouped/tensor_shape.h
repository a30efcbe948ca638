// The tensor-core kernels' tiles, and which of their numbers a thread brings to shared memory: what tests can play on
// the host.
#pragma once
#include "gpu/grouped/epilogue.h"
#include "gpu/grouped/shared_layout.h"
#include "gpu/grouped/tile_map.h"

namespace stormcell::gpu {

/// Rows of a tile of `swapped`, at most.
inline constexpr int kNarrowRows = 64;

/// Weights and target rows of a tile's slots, stored by one warp for its lanes; each lane needs those of a quarter of
/// the slots.
struct WarpSlots {
  alignas(8) float weight[kNarrowRows];
  int32_t target[kNarrowRows];
};
struct TileSlots {
  WarpSlots of_warp[4];
};

/// kBoxes: of weights, 64 deep. kRows: of x, at most. kColumns: of y a tile. kPanels: 2 with a gate. kBlocks: of 64 in
/// a stage's depth. kCopyWarp: a warp of its own requests copies; else the first of the producer's threads does.
template <int kBoxes_, int kRows_, int kColumns_, int kPanels_, int kBlocks_, int kStages_, int kLag_, int kConsumers_,
          bool kCopyWarp_>
struct TensorShape {
  static constexpr int kBoxes = kBoxes_, kRows = kRows_, kColumns = kColumns_, kPanels = kPanels_, kStages = kStages_,
                       kLag = kLag_;
  static constexpr int kConsumers = kConsumers_;  // warpgroups
  static constexpr int kGivenBack = 1;            // arrivals of a consumer warp that gives a stage back
  static constexpr bool kCopyWarp = kCopyWarp_;
  static constexpr int kThreads = 128 * (1 + kConsumers) + (kCopyWarp ? 32 : 0);
  static constexpr int kBlocks = kBlocks_, kDepth = kBlocks * kTileDepth;
  static constexpr int kBoxRows = 64, kBoxBytes = kBoxRows * kRowBytes;
  /// A stage: the weights' boxes, block of depth by block, then the rows, block by block.
  static constexpr int kWeightBlockBytes = kBoxes * kBoxBytes, kRowBlockBytes = kRows * kRowBytes;
  static constexpr int kWeightBytes = kBlocks * kWeightBlockBytes,
                       kStageBytes = kWeightBytes + kBlocks * kRowBlockBytes;
  /// Stages, two barriers each; the data of a tile's slots if rows are the narrow side; and slack to align the first
  /// stage.
  static constexpr int kSlotsAt = kStages * (kStageBytes + 16);
  static constexpr int kSharedBytes =
      kSlotsAt + (kRows == kNarrowRows ? static_cast<int>(sizeof(TileSlots)) : 0) + 1024;
  static_assert(kColumns * kPanels == kBoxes * kBoxRows && kStageBytes % kGroupBytes == 0);
  static_assert(is_live(kStages, kLag) && kSharedBytes <= 227 << 10);
};
/// A ninth warp leaves 168 registers a thread, which the sums of two panels just leave room in.
template <int kPanels>
using SwappedShape = TensorShape<kPanels, 64, 64, kPanels, 2, kPanels == 2 ? 4 : 6, 2, 1, true>;
template <int kPanels>
using LargeShape = TensorShape<4, 128, 256 / kPanels, kPanels, 1, 4, 1, 2, false>;

/// Tiles of `swapped` in the stages of `large`, for the kernel that takes both (joined.h): 192 deep, with a gate 128.
/// One warpgroup of consumers is at work, and gives back for two.
template <int kPanels>
struct JoinedNarrowShape : TensorShape<kPanels, 64, 64, kPanels, kPanels == 2 ? 2 : 3, 4, 1, 1, false> {
  static constexpr int kGivenBack = 2;
};
template <int kPanels>
struct JoinedShape : LargeShape<kPanels> {
  using Narrow = JoinedNarrowShape<kPanels>;
  static constexpr int kSharedBytes = Narrow::kSharedBytes;
  static_assert(Narrow::kStages == JoinedShape::kStages && Narrow::kStageBytes == JoinedShape::kStageBytes &&
                Narrow::kLag == JoinedShape::kLag);
};

/// Arrivals that complete a stage's barriers. Full: the producer's four warps, and who asks for the weights (whose
/// bytes count besides). Empty: the consumers' warps.
inline constexpr int kFullArrivals = 4 + 1;
template <class Shape>
inline constexpr int kEmptyArrivals = 4 * Shape::kConsumers* Shape::kGivenBack;

/// Rows that the narrow side of a swapped tile takes for so many.
STORMCELL_BOTH constexpr int32_t narrow_side(int32_t rows) {
  return rows <= 8 ? 8 : rows <= 16 ? 16 : rows <= 32 ? 32 : 64;
}

/// The first row, within an expert's weights of n or 2 n rows, of box `box` of a stage: the boxes of one panel come
/// first, then those of the other.
template <class Shape>
STORMCELL_BOTH constexpr int32_t box_row(int32_t n, int32_t column_block, int box) {
  constexpr uint32_t kPerPanel = Shape::kBoxes / Shape::kPanels;
  const auto panel = static_cast<int32_t>(static_cast<uint32_t>(box) / kPerPanel),
             within = static_cast<int32_t>(static_cast<uint32_t>(box) % kPerPanel);
  return panel * n + column_block * Shape::kColumns + within * Shape::kBoxRows;
}

/// The sixteen-byte pieces of rows of x that one of the producer's 128 threads copies: piece thread % 8 of rows thread
/// / 8 + 16 j.
template <class Shape>
struct RowPieces {
  static constexpr int kMine = Shape::kRows / 16;
  int first_row, piece;
  STORMCELL_BOTH constexpr explicit RowPieces(int thread) : first_row(thread / 8), piece(thread % 8) {}
  STORMCELL_BOTH constexpr int row(int j) const { return first_row + 16 * j; }
  /// Offset of the piece within a block of the stage's rows.
  STORMCELL_BOTH constexpr int32_t offset(int j) const {
    return swizzled_offset(first_row, piece) + j * 16 * kRowBytes;
  }
  /// Source of the piece at depth 0; rows past the tile's last repeat it.
  STORMCELL_BOTH const Bf16* source(const ProductArgs<Bf16>& a, const Tile& tile, int j) const {
    return a.x + a.source_row(tile.first + least(row(j), tile.rows - 1)) * a.k + piece * 8;
  }
  /// Zeros replace missing rows, and pieces beyond the `left` numbers of depth from the stage's first on.
  STORMCELL_BOTH constexpr bool is_row(const Tile& tile, int j) const { return row(j) < tile.rows; }
  STORMCELL_BOTH constexpr bool is_within(int32_t left, int block) const {
    return block * kTileDepth + piece * 8 < left;
  }
};

}  // namespace stormcell::gpu
