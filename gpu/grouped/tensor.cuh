// What both tensor-core kernels share: a ring of stages in shared memory, filled by one warpgroup, emptied by the others. Weights come by
// the copy engine (64 rows x 64 numbers a box), rows of x by cp.async, sixteen bytes a thread, because they may be gathered and the copy
// engine of this card gathers none. Both are swizzled alike (shared_layout.h).
#pragma once
#include "gpu/grouped/ptx.cuh"
#include "gpu/grouped/tensor_shape.h"
#include "gpu/launch/cuda_execution.cuh"

namespace stormcell::gpu {

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
  const int thread = threadIdx.x % 128;
  const RowPieces<Shape> pieces(thread);
  using Uses = Ring<Shape::kStages>;
  int32_t use = 0;
  if (thread == 0) ptx::prefetch_map(map);
  for (int64_t t = blockIdx.x; t < work.tiles; t += gridDim.x) {
    const Tile tile = work.tile(a, t);
    const int read = padded(tile.rows);
    const Bf16* source[pieces.kMine];
#pragma unroll
    for (int j = 0; j < pieces.kMine; ++j) source[j] = pieces.source(a, tile, j);
    for (int32_t depth = 0; depth < a.k; depth += kTileDepth, ++use) {
      const int stage = Uses::stage(use);
      ptx::wait(stages.empty(stage), Uses::parity(use) ^ 1);
      if (thread == 0) {
        ptx::arrive_expecting(stages.full(stage), Shape::kWeightBytes);
        for (int b = 0; b < Shape::kBoxes; ++b)
          ptx::copy_box(stages.weights(stage) + b * Shape::kBoxBytes, map, depth, box_row<Shape>(a.n, tile.column_block, b), tile.expert,
                        stages.full(stage));
      }
#pragma unroll
      for (int j = 0; j < pieces.kMine; ++j) {
        if (pieces.row(j) >= read) continue;
        const bool live = pieces.is_live(a, tile, depth, j);
        ptx::copy_piece(stages.rows(stage) + pieces.offset(j), live ? source[j] + depth : a.x, live ? 16 : 0);
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
