// Common parts of the tensor-core kernels: a ring of stages in shared memory, filled by one warpgroup (and a further
// warp if the shape has one), emptied by the others. Weights come by the copy engine (64 rows x 64 numbers a box). Rows
// of x come by cp.async, sixteen bytes a thread: they may be gathered, which this card's copy engine cannot do. Both
// are swizzled alike (shared_layout.h).
//
// They are written against an execution, as other kernels are, so that tests run these very loops on the host. Beside
// gpu/base/execution.h it offers the following, with places in shared memory as addresses (the card's are in
// hopper_execution.cuh, the host's in tests/gpu/hopper.h):
//     Map                                                         what the copy engine knows of the weights
//     uint32_t shared_begin()                                     where the block's shared memory begins
//     T& shared_at<T>(uint32_t address)
//     void init_barrier(uint32_t barrier, uint32_t arrivals), barriers_are_there()
//     void arrive(uint32_t barrier), arrive_expecting(uint32_t barrier, uint32_t bytes)
//     void wait(uint32_t barrier, uint32_t parity, const Awaited&)
//     void prefetch_map(const Map*)
//     void copy_box(uint32_t to, const Map*, int32_t c0, int32_t c1, int32_t c2, uint32_t barrier)
//     void copy_piece(uint32_t to, const void* from, uint32_t bytes), commit_pieces(), wait_pieces<kLeft>()
//     void fence_for_tensor_cores()
//     void begin_products(), multiply(sums, uint64_t a, uint64_t b, bool add), commit_products(), wait_products<kLeft>()
//     void fewer_registers<kRegisters>(), more_registers<kRegisters>()
#pragma once
#include <cstdint>
#include <type_traits>

#include "gpu/grouped/tensor_shape.h"
#include "gpu/launch/stall.h"

namespace stormcell::gpu {

/// This thread's number, in a type that tells the compiler that it is not negative.
template <class X>
STORMCELL_DEVICE uint32_t thread_of(X& x) {
  return static_cast<uint32_t>(x.thread());
}

/// A block's shared memory, as addresses.
template <class Shape>
struct Stages {
  uint32_t base;
  template <class X>
  STORMCELL_DEVICE explicit Stages(X& x) : base((x.shared_begin() + 1023) / 1024 * 1024) {}
  STORMCELL_DEVICE uint32_t weights(int stage) const { return base + stage * Shape::kStageBytes; }
  STORMCELL_DEVICE uint32_t rows(int stage) const { return weights(stage) + Shape::kWeightBytes; }
  STORMCELL_DEVICE uint32_t full(int stage) const { return base + Shape::kStages * Shape::kStageBytes + stage * 16; }
  STORMCELL_DEVICE uint32_t empty(int stage) const { return full(stage) + 8; }
  template <class X>
  STORMCELL_DEVICE TileSlots& tile_slots(X& x) const {
    return x.template shared_at<TileSlots>(base + Shape::kSlotsAt);
  }

  /// Called by all threads of the block: none continues before its barriers exist.
  template <class X>
  STORMCELL_DEVICE void begin(X& x) const {
    if (x.thread() == 0) {
      for (int s = 0; s < Shape::kStages; ++s) {
        x.init_barrier(full(s), kFullArrivals);
        x.init_barrier(empty(s), kEmptyArrivals<Shape>);
      }
      x.barriers_are_there();
    }
    x.sync();
  }
  template <class X>
  STORMCELL_DEVICE void wait_full(X& x, const RingPlace<Shape::kStages>& at, int32_t depth) const {
    x.wait(full(at.stage), at.parity, {Awaits::full, at.stage, depth});
  }
  template <class X>
  STORMCELL_DEVICE void wait_empty(X& x, const RingPlace<Shape::kStages>& at, Awaits what, int32_t depth) const {
    x.wait(empty(at.stage), at.parity ^ 1, {what, at.stage, depth});
  }
};

/// Arrivals by which a warp of consumers gives a stage back: one lane, or one more if it arrives for a warp that takes
/// no part.
template <class Shape>
struct GivingBack {
  uint32_t first_empty;
  bool speaks;
  template <class X>
  STORMCELL_DEVICE GivingBack(X& x, const Stages<Shape>& stages)
      : first_empty(stages.empty(0)), speaks(thread_of(x) % 32 < Shape::kGivenBack) {}
  template <class X>
  STORMCELL_DEVICE void operator()(X& x, int stage) const {
    if (speaks) x.arrive(first_empty + stage * 16);
  }
};

/// The work of a block: tiles first(), first() + step(), ... (block numbers are not negative: nothing extends their
/// signs)
template <class Shape>
struct Work {
  TileList list;
  int32_t column_blocks;
  int64_t tiles;
  STORMCELL_DEVICE Work(const ProductArgs<Bf16>& a, Regime regime)
      : list(tile_list(a.map, regime)),
        column_blocks(parts(a.n, Shape::kColumns)),
        tiles(tiles_of(list, column_blocks)) {}
  template <class X>
  STORMCELL_DEVICE static int64_t first(X& x) {
    return static_cast<uint32_t>(x.block());
  }
  template <class X>
  STORMCELL_DEVICE static int64_t step(X& x) {
    return static_cast<uint32_t>(x.blocks());
  }
  STORMCELL_DEVICE Tile tile(const ProductArgs<Bf16>& a, int64_t t) const {
    return find_tile(list, a.offsets, column_blocks, Shape::kRows, t);
  }
};

/// Run by one thread: asks the copy engine for a stage's weights.
template <class Shape, class X, class Map>
STORMCELL_DEVICE void ask_for_weights(X& x, const ProductArgs<Bf16>& a, const Map* map, const Stages<Shape>& stages,
                                      int stage, const Tile& tile, int32_t depth) {
  x.arrive_expecting(stages.full(stage), Shape::kWeightBytes);
  STORMCELL_UNROLL
  for (int block = 0; block < Shape::kBlocks; ++block) {
    STORMCELL_UNROLL
    for (int box = 0; box < Shape::kBoxes; ++box)
      x.copy_box(stages.weights(stage) + block * Shape::kWeightBlockBytes + box * Shape::kBoxBytes, map,
                 depth + block * kTileDepth, box_row<Shape>(a.n, tile.column_block, box), tile.expert,
                 stages.full(stage));
  }
}

/// Run by one thread of a warp of its own: requests all weights of the block's tiles.
template <class Shape, class X, class Map>
STORMCELL_DEVICE void produce_weights(X& x, const ProductArgs<Bf16>& a, const Map* map, const Work<Shape>& work,
                                      const Stages<Shape>& stages) {
  RingPlace<Shape::kStages> at;
  x.prefetch_map(map);
  for (int64_t t = work.first(x); t < work.tiles; t += work.step(x)) {
    const Tile tile = work.tile(a, t);
    for (int32_t depth = 0; depth < a.k; depth += Shape::kDepth, at.next()) {
      stages.wait_empty(x, at, Awaits::empty_for_weights, depth);
      ask_for_weights(x, a, map, stages, at.stage, tile, depth);
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

  STORMCELL_DEVICE RowCopies(const ProductArgs<Bf16>& a, const RowPieces<Shape>& pieces, const Tile& tile,
                             int rows_read) {
    STORMCELL_UNROLL
    for (int j = 0; j < kMine; ++j) {
      from[j] = pieces.source(a, tile, j);
      read[j] = pieces.row(j) < rows_read, live[j] = pieces.is_row(tile, j);
    }
  }
  /// Copies to the rows at `to`; `left` numbers of depth are left, fewer than kDepth (not kWhole) only in a tile's last
  /// stage.
  template <bool kWhole, class X>
  STORMCELL_DEVICE void copy(X& x, const ProductArgs<Bf16>& a, const RowPieces<Shape>& pieces, uint32_t to,
                             int32_t left) {
    to += pieces.offset(0);
    STORMCELL_UNROLL
    for (int j = 0; j < kMine; ++j) {
      if (!read[j]) continue;
      STORMCELL_UNROLL
      for (int block = 0; block < Shape::kBlocks; ++block) {
        if constexpr (kWhole) {
          x.copy_piece(to + at(j, block), from[j] + block * kTileDepth, live[j] ? 16 : 0);
        } else {
          const bool inside = live[j] && pieces.is_within(left, block);
          x.copy_piece(to + at(j, block), inside ? from[j] + block * kTileDepth : a.x, inside ? 16 : 0);
        }
      }
    }
    STORMCELL_UNROLL
    for (int j = 0; j < kMine; ++j) from[j] += Shape::kDepth;
  }
  STORMCELL_BOTH static constexpr int at(int j, int block) {
    return block * Shape::kRowBlockBytes + j * 16 * kRowBytes;
  }
};

/// Progress of a thread of the producer, which continues from tile to tile.
template <int kStages>
struct Produced {
  RingPlace<kStages> at, landed;  ///< `landed` is said kLag stages later, when the copies have landed
  int ahead = 0;

  /// Run by a lane for its warp, after each thread of the warp has fenced its writes.
  template <class Shape, class X>
  STORMCELL_DEVICE void say_landed(X& x, const Stages<Shape>& stages) {
    x.fence_for_tensor_cores();
    x.sync_warp();
    if (thread_of(x) % 32 == 0) x.arrive(stages.full(landed.stage));
    landed.next();
  }
  /// Called after the last tile.
  template <class Shape, class X>
  STORMCELL_DEVICE void finish(X& x, const Stages<Shape>& stages) {
    x.template wait_pieces<0>();
    for (; ahead > 0; --ahead) say_landed(x, stages);
  }
};

/// The producer of rows, a warpgroup; it also requests weights if no warp of its own does. It starts at tile `next` of
/// this block. `padded` returns the rows of a stage that consumers read for a tile of so many.
template <class Shape, class X, class Map, class Padded>
STORMCELL_DEVICE_INLINED void produce_tiles(X& x, const ProductArgs<Bf16>& a, const Map* map, const Work<Shape>& work,
                                            const Stages<Shape>& stages, int64_t& next, Produced<Shape::kStages>& done,
                                            Padded padded) {
  const int thread = thread_of(x) % 128;
  const RowPieces<Shape> pieces(thread);
  RingPlace<Shape::kStages>& at = done.at;
  if (!Shape::kCopyWarp && thread == 0) x.prefetch_map(map);
  take_tiles(next, work.step(x), work.tiles, [&](int64_t t) {
    const Tile tile = work.tile(a, t);
    RowCopies<Shape> copies(a, pieces, tile, padded(tile.rows));
    int32_t depth = 0;
    const auto fill = [&](auto is_whole) {
      stages.wait_empty(x, at, Awaits::empty_for_rows, depth);
      if (!Shape::kCopyWarp && thread == 0) ask_for_weights(x, a, map, stages, at.stage, tile, depth);
      copies.template copy<decltype(is_whole)::value>(x, a, pieces, stages.rows(at.stage), a.k - depth);
      x.commit_pieces();
      if (done.ahead == Shape::kLag) {
        x.template wait_pieces<Shape::kLag>();
        done.say_landed(x, stages);
      } else {
        ++done.ahead;
      }
      at.next(), depth += Shape::kDepth;
    };
    // Whole stages apart, where a stage's instructions are what bounds; the 56 registers of a producer of large tiles
    // hold one way only.
    if constexpr (Shape::kConsumers == 1)
      while (depth + Shape::kDepth <= a.k) fill(std::true_type());
    while (depth < a.k) fill(std::false_type());
  });
}
/// All tiles of a launch of one regime.
template <class Shape, class X, class Map, class Padded>
STORMCELL_DEVICE void produce(X& x, const ProductArgs<Bf16>& a, const Map* map, const Work<Shape>& work,
                              const Stages<Shape>& stages, Padded padded) {
  Produced<Shape::kStages> done;
  int64_t next = work.first(x);
  produce_tiles(x, a, map, work, stages, next, done, padded);
  done.finish(x, stages);
}

/// A consumer's way through one tile: for each stage of its depth multiply_stage(stage, is_first) queues products; a
/// stage is given back as soon as the next one's products are queued and its own are done; while the first are under
/// way meanwhile() is called. `at` goes on from tile to tile.
template <class Shape, class X, class Multiply, class Meanwhile>
STORMCELL_DEVICE_INLINED void consume(X& x, const ProductArgs<Bf16>& a, const Stages<Shape>& stages,
                                      RingPlace<Shape::kStages>& at, Multiply multiply_stage, Meanwhile meanwhile) {
  const GivingBack<Shape> give_back(x, stages);
  int before = at.stage;
  for (int32_t depth = 0; depth < a.k; depth += Shape::kDepth, at.next()) {
    stages.wait_full(x, at, depth);
    x.begin_products();
    multiply_stage(at.stage, depth == 0);
    x.commit_products();
    if (depth == 0) meanwhile();
    if (depth > 0) {
      x.template wait_products<1>();
      give_back(x, before);
    }
    before = at.stage;
  }
  x.template wait_products<0>();
  give_back(x, before);
}

}  // namespace stormcell::gpu
