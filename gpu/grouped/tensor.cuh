// What both tensor-core kernels share: a ring of stages in shared memory, filled by one warpgroup, emptied by the others. Weights come by
// the copy engine (64 rows x 64 numbers a box), rows of x by cp.async, sixteen bytes a thread, because they may be gathered and the copy
// engine of this card gathers none. Both are swizzled alike (shared_layout.h).
#pragma once
#include "gpu/grouped/epilogue.h"
#include "gpu/grouped/ptx.cuh"
#include "gpu/grouped/shared_layout.h"
#include "gpu/grouped/tile_map.h"
#include "gpu/launch/cuda_execution.cuh"

namespace stormcell::gpu {

/// kBoxes: of weights a stage. kRows: of x, at most, a stage. kColumns: of y a tile. kPanels: 2 with a gate.
template <int kBoxes_, int kRows_, int kColumns_, int kPanels_, int kStages_, int kLag_, int kConsumers_>
struct TensorShape {
  static constexpr int kBoxes = kBoxes_, kRows = kRows_, kColumns = kColumns_, kPanels = kPanels_, kStages = kStages_, kLag = kLag_;
  static constexpr int kConsumers = kConsumers_;  // warpgroups
  static constexpr int kThreads = 128 * (1 + kConsumers);
  static constexpr int kBoxRows = 64, kBoxBytes = kBoxRows * kRowBytes;
  static constexpr int kWeightBytes = kBoxes * kBoxBytes, kStageBytes = kWeightBytes + kRows * kRowBytes;
  /// Stages, two barriers each, and slack to align the first.
  static constexpr int kSharedBytes = kStages * (kStageBytes + 16) + 1024;
  static_assert(kColumns * kPanels == kBoxes * kBoxRows && kStageBytes % kGroupBytes == 0);
  static_assert(is_live(kStages, kLag) && kSharedBytes <= 227 << 10);
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// A block's shared memory, as addresses.
template <class Shape>
struct Stages {
  uint32_t base = (ptx::shared_address(shared_bytes) + 1023) / 1024 * 1024;
  __device__ uint32_t weights(int stage) const { return base + stage * Shape::kStageBytes; }
  __device__ uint32_t rows(int stage) const { return weights(stage) + Shape::kWeightBytes; }
  __device__ uint32_t full(int stage) const { return base + Shape::kStages * Shape::kStageBytes + stage * 16; }
  __device__ uint32_t empty(int stage) const { return full(stage) + 8; }

  /// By all threads of the block.
  __device__ void begin() const {
    if (threadIdx.x == 0) {
      for (int s = 0; s < Shape::kStages; ++s) {
        ptx::barrier_init(full(s), 128 + 1);                 // the producer's threads, and the copy engine's bytes
        ptx::barrier_init(empty(s), 4 * Shape::kConsumers);  // the consumers' warps
      }
      ptx::barrier_init_done();
    }
    __syncthreads();
  }
};

/// The work of a block: tiles blockIdx.x, blockIdx.x + gridDim.x, ...
template <class Shape>
struct Work {
  TileList list;
  int32_t column_blocks;
  int64_t tiles;
  __device__ Work(const ProductArgs<Bf16>& a, Regime regime)
      : list(tile_list(a.map, regime)), column_blocks(parts(a.n, Shape::kColumns)), tiles(tiles_of(list, column_blocks)) {}
  __device__ Tile tile(const ProductArgs<Bf16>& a, int64_t t) const { return find_tile(list, a.offsets, column_blocks, Shape::kRows, t); }
};

/// The producer: a warpgroup. `padded` says how many rows of a stage the consumers read for a tile of so many.
template <class Shape, class Padded>
__device__ void produce(const ProductArgs<Bf16>& a, const CUtensorMap* map, const Work<Shape>& work, const Stages<Shape>& stages,
                        Padded padded) {
  constexpr int kMine = Shape::kRows / 16;  // rows that a thread copies a piece of: thread / 8 + 16 j
  const int thread = threadIdx.x % 128, piece = thread % 8, first_row = thread / 8;
  const uint32_t offset = swizzled_offset(first_row, piece);
  using Uses = Ring<Shape::kStages>;
  int32_t use = 0;
  if (thread == 0) ptx::prefetch_map(map);
  for (int64_t t = blockIdx.x; t < work.tiles; t += gridDim.x) {
    const Tile tile = work.tile(a, t);
    const int read = padded(tile.rows);
    const Bf16* source[kMine];
#pragma unroll
    for (int j = 0; j < kMine; ++j) source[j] = a.x + a.source_row(tile.first + least(first_row + 16 * j, tile.rows - 1)) * a.k + piece * 8;
    for (int32_t depth = 0; depth < a.k; depth += kTileDepth, ++use) {
      const int stage = Uses::stage(use);
      ptx::wait(stages.empty(stage), Uses::parity(use) ^ 1);
      if (thread == 0) {
        ptx::arrive_expecting(stages.full(stage), Shape::kWeightBytes);
        constexpr int kPerPanel = Shape::kBoxes / Shape::kPanels;
        for (int b = 0; b < Shape::kBoxes; ++b)
          ptx::copy_box(stages.weights(stage) + b * Shape::kBoxBytes, map, depth,
                        b / kPerPanel * a.n + tile.column_block * Shape::kColumns + b % kPerPanel * Shape::kBoxRows, tile.expert,
                        stages.full(stage));
      }
      const bool inside = depth + piece * 8 < a.k;
#pragma unroll
      for (int j = 0; j < kMine; ++j) {
        const int row = first_row + 16 * j;
        if (row < read) {
          const bool live = inside && row < tile.rows;  // the others become zeros
          ptx::copy_piece(stages.rows(stage) + offset + j * 16 * kRowBytes, live ? source[j] + depth : a.x, live ? 16 : 0);
        }
      }
      ptx::commit_pieces();
      if (use >= Shape::kLag) {
        ptx::wait_pieces<Shape::kLag>();
        ptx::fence_for_tensor_cores();
        ptx::arrive(stages.full(Uses::stage(use - Shape::kLag)));
      }
    }
  }
  ptx::wait_pieces<0>();
  ptx::fence_for_tensor_cores();
  for (int32_t last = most(0, use - Shape::kLag); last < use; ++last) ptx::arrive(stages.full(Uses::stage(last)));
}

/// A consumer's way through one tile: for each stage of its depth multiply_stage(stage, is_first) queues products; a stage is given back as
/// soon as the next one's products are queued and its own are done. `use` counts on from tile to tile.
template <class Shape, class Multiply>
__device__ void consume(const ProductArgs<Bf16>& a, const Stages<Shape>& stages, int32_t& use, Multiply multiply_stage) {
  using Uses = Ring<Shape::kStages>;
  const bool speaks = threadIdx.x % 32 == 0;
  for (int32_t depth = 0; depth < a.k; depth += kTileDepth, ++use) {
    const int stage = Uses::stage(use);
    ptx::wait(stages.full(stage), Uses::parity(use));
    ptx::begin_products();
    multiply_stage(stage, depth == 0);
    ptx::commit_products();
    if (depth > 0) {
      ptx::wait_products<1>();
      if (speaks) ptx::arrive(stages.empty(Uses::stage(use - 1)));
    }
  }
  ptx::wait_products<0>();
  if (speaks) ptx::arrive(stages.empty(Uses::stage(use - 1)));
}

#endif

}  // namespace stormcell::gpu
