// What the tensor-core kernels share: a ring of stages in shared memory, filled by one warpgroup (and a warp more where the shape has
// one), emptied by the others. Weights come by the copy engine (64 rows x 64 numbers a box), rows of x by cp.async, sixteen bytes a thread,
// because they may be gathered and the copy engine of this card gathers none. Both are swizzled alike (shared_layout.h).
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
  __device__ TileSlots& slots() const {
    return *reinterpret_cast<TileSlots*>(shared_bytes + (base - ptx::shared_address(shared_bytes)) + Shape::kSlotsAt);
  }

  /// By all threads of the block: nobody goes on before its barriers are there.
  __device__ void begin() const {
    if (threadIdx.x == 0) {
      for (int s = 0; s < Shape::kStages; ++s) {
        ptx::barrier_init(full(s), kFullArrivals);
        ptx::barrier_init(empty(s), kEmptyArrivals<Shape>);
      }
      ptx::barrier_init_done();
    }
    __syncthreads();
  }
  __device__ void wait_full(const RingPlace<Shape::kStages>& at, int32_t depth) const {
    ptx::wait(full(at.stage), at.parity, {"full", at.stage, depth});
  }
  __device__ void wait_empty(const RingPlace<Shape::kStages>& at, const char* what, int32_t depth) const {
    ptx::wait(empty(at.stage), at.parity ^ 1, {what, at.stage, depth});
  }
};

/// How a warp of consumers gives a stage back: by a lane, or by one more where it arrives for a warp that takes no part.
template <class Shape>
struct GivingBack {
  uint32_t first_empty;
  bool speaks;
  __device__ explicit GivingBack(const Stages<Shape>& stages)
      : first_empty(stages.empty(0)), speaks(threadIdx.x % 32 < Shape::kGivenBack) {}
  __device__ void operator()(int stage) const {
    if (speaks) ptx::arrive(first_empty + stage * 16);
  }
};

/// The work of a block: tiles first(), first() + step(), ...
template <class Shape>
struct Work {
  TileList list;
  int32_t column_blocks;
  int64_t tiles;
  __device__ Work(const ProductArgs<Bf16>& a, Regime regime)
      : list(tile_list(a.map, regime)), column_blocks(parts(a.n, Shape::kColumns)), tiles(tiles_of(list, column_blocks)) {}
  __device__ static int64_t first() { return blockIdx.x; }
  __device__ static int64_t step() { return gridDim.x; }
  __device__ Tile tile(const ProductArgs<Bf16>& a, int64_t t) const { return find_tile(list, a.offsets, column_blocks, Shape::kRows, t); }
};

/// One thread: asks the copy engine for a stage's weights.
template <class Shape>
__device__ void ask_for_weights(const ProductArgs<Bf16>& a, const CUtensorMap* map, const Stages<Shape>& stages, int stage,
                                const Tile& tile, int32_t depth) {
  ptx::arrive_expecting(stages.full(stage), Shape::kWeightBytes);
#pragma unroll
  for (int block = 0; block < Shape::kBlocks; ++block)
#pragma unroll
    for (int box = 0; box < Shape::kBoxes; ++box)
      ptx::copy_box(stages.weights(stage) + block * Shape::kWeightBlockBytes + box * Shape::kBoxBytes, map, depth + block * kTileDepth,
                    box_row<Shape>(a.n, tile.column_block, box), tile.expert, stages.full(stage));
}

/// One thread of a warp of its own: all weights of the block's tiles.
template <class Shape>
__device__ void produce_weights(const ProductArgs<Bf16>& a, const CUtensorMap* map, const Work<Shape>& work, const Stages<Shape>& stages) {
  RingPlace<Shape::kStages> at;
  ptx::prefetch_map(map);
  for (int64_t t = work.first(); t < work.tiles; t += work.step()) {
    const Tile tile = work.tile(a, t);
    for (int32_t depth = 0; depth < a.k; depth += Shape::kDepth, at.next()) {
      stages.wait_empty(at, "empty, for weights", depth);
      ask_for_weights(a, map, stages, at.stage, tile, depth);
    }
  }
}

/// A thread's pieces of rows, from depth to depth.
template <class Shape>
struct RowCopies {
  static constexpr int kMine = RowPieces<Shape>::kMine;
  const Bf16* from[kMine];
  bool read[kMine];  ///< the consumers read this row
  bool live[kMine];  ///< it has numbers: else zeros

  __device__ RowCopies(const ProductArgs<Bf16>& a, const RowPieces<Shape>& pieces, const Tile& tile, int rows_read) {
#pragma unroll
    for (int j = 0; j < kMine; ++j) {
      from[j] = pieces.source(a, tile, j);
      read[j] = pieces.row(j) < rows_read, live[j] = pieces.is_row(tile, j);
    }
  }
  /// To the rows at `to`; `left` numbers of depth are left, fewer than kDepth (not kWhole) only in a tile's last stage.
  template <bool kWhole>
  __device__ void copy(const ProductArgs<Bf16>& a, const RowPieces<Shape>& pieces, uint32_t to, int32_t left) {
    to += pieces.offset(0);
    if constexpr (kWhole) {
#pragma unroll
      for (int j = 0; j < kMine; ++j)
        if (read[j])
#pragma unroll
          for (int block = 0; block < Shape::kBlocks; ++block)
            ptx::copy_piece(to + at(j, block), from[j] + block * kTileDepth, live[j] ? 16 : 0);
    } else {
#pragma unroll
      for (int j = 0; j < kMine; ++j)
        if (read[j])
#pragma unroll
          for (int block = 0; block < Shape::kBlocks; ++block) {
            const bool inside = live[j] && pieces.is_within(left, block);
            ptx::copy_piece(to + at(j, block), inside ? from[j] + block * kTileDepth : a.x, inside ? 16 : 0);
          }
    }
#pragma unroll
    for (int j = 0; j < kMine; ++j) from[j] += Shape::kDepth;
  }
  __device__ static constexpr int at(int j, int block) { return block * Shape::kRowBlockBytes + j * 16 * kRowBytes; }
};

/// How far a thread of the producer is: it goes on from tile to tile.
template <int kStages>
struct Produced {
  RingPlace<kStages> at, landed;  ///< `landed` is said kLag stages later, when the copies have landed
  int ahead = 0;

  /// By a lane for its warp, each of whose threads has fenced what it wrote.
  template <class Shape>
  __device__ void say_landed(const Stages<Shape>& stages) {
    ptx::fence_for_tensor_cores();
    __syncwarp();
    if (threadIdx.x % 32 == 0) ptx::arrive(stages.full(landed.stage));
    landed.next();
  }
  /// After the last tile.
  template <class Shape>
  __device__ void finish(const Stages<Shape>& stages) {
    ptx::wait_pieces<0>();
    for (; ahead > 0; --ahead) say_landed(stages);
  }
};

/// The producer of rows, a warpgroup; of weights too where no warp of its own asks for them. From tile `next` of this block on. `padded`
/// says how many rows of a stage the consumers read for a tile of so many.
template <class Shape, class Padded>
__device__ __forceinline__ void produce_tiles(const ProductArgs<Bf16>& a, const CUtensorMap* map, const Work<Shape>& work,
                                              const Stages<Shape>& stages, int64_t& next, Produced<Shape::kStages>& done, Padded padded) {
  const int thread = threadIdx.x % 128;
  const RowPieces<Shape> pieces(thread);
  RingPlace<Shape::kStages>& at = done.at;
  if (!Shape::kCopyWarp && thread == 0) ptx::prefetch_map(map);
  take_tiles(next, work.step(), work.tiles, [&](int64_t t) {
    const Tile tile = work.tile(a, t);
    RowCopies<Shape> copies(a, pieces, tile, padded(tile.rows));
    int32_t depth = 0;
    const auto fill = [&](auto is_whole) {
      stages.wait_empty(at, "empty, for rows", depth);
      if (!Shape::kCopyWarp && thread == 0) ask_for_weights(a, map, stages, at.stage, tile, depth);
      copies.template copy<decltype(is_whole)::value>(a, pieces, stages.rows(at.stage), a.k - depth);
      ptx::commit_pieces();
      if (done.ahead == Shape::kLag) {
        ptx::wait_pieces<Shape::kLag>();
        done.say_landed(stages);
      } else {
        ++done.ahead;
      }
      at.next(), depth += Shape::kDepth;
    };
    // Whole stages apart, where a stage's instructions are what bounds; the 56 registers of a producer of large tiles hold one way only.
    if constexpr (Shape::kConsumers == 1)
      while (depth + Shape::kDepth <= a.k) fill(std::true_type());
    while (depth < a.k) fill(std::false_type());
  });
}
/// All tiles of a launch of one regime.
template <class Shape, class Padded>
__device__ void produce(const ProductArgs<Bf16>& a, const CUtensorMap* map, const Work<Shape>& work, const Stages<Shape>& stages,
                        Padded padded) {
  Produced<Shape::kStages> done;
  int64_t next = work.first();
  produce_tiles(a, map, work, stages, next, done, padded);
  done.finish(stages);
}

/// A consumer's way through one tile: for each stage of its depth multiply_stage(stage, is_first) queues products; a stage is given back as
/// soon as the next one's products are queued and its own are done; while the first are under way meanwhile() is called. `at` goes on from
/// tile to tile.
template <class Shape, class Multiply, class Meanwhile>
__device__ __forceinline__ void consume(const ProductArgs<Bf16>& a, const Stages<Shape>& stages, RingPlace<Shape::kStages>& at,
                                        Multiply multiply_stage, Meanwhile meanwhile) {
  const GivingBack<Shape> give_back(stages);
  int before = at.stage;
  for (int32_t depth = 0; depth < a.k; depth += Shape::kDepth, at.next()) {
    stages.wait_full(at, depth);
    ptx::begin_products();
    multiply_stage(at.stage, depth == 0);
    ptx::commit_products();
    if (depth == 0) meanwhile();
    if (depth > 0) {
      ptx::wait_products<1>();
      give_back(before);
    }
    before = at.stage;
  }
  ptx::wait_products<0>();
  give_back(before);
}

#endif

}  // namespace stormcell::gpu
