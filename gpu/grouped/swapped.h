// Up to 64 rows an expert: weights are the tensor cores' 64-row side and rows of x the narrow one (8, 16, 32 or 64), so
// that nothing is multiplied in vain and a tile needs only 64 rows of weights. A stage is 128 deep, which halves the
// number of stages and their fixed costs. Bound: the weights' bytes; up to 96 KiB of them (128 with a gate) are in
// flight for a block.
#pragma once
#include "gpu/grouped/tensor.h"
#include "gpu/grouped/tensor_store.h"

namespace stormcell::gpu {

template <int kNarrow, class Shape, class X>
STORMCELL_DEVICE void swapped_tile(X& x, const ProductArgs<Bf16>& a, const Stages<Shape>& stages, const Tile& tile,
                                   RingPlace<Shape::kStages>& at) {
  constexpr int kPanels = Shape::kPanels;
  const int thread = thread_of(x) % 128;
  const SwappedFetched<kNarrow, kPanels> before(x, a, tile, thread, stages.tile_slots(x));
  float sum[kPanels][kNarrow / 2];
  consume(
      x, a, stages, at,
      [&](int stage, bool is_first) {
        const uint64_t rows = matrix_descriptor(stages.rows(stage));
        const uint64_t weights = matrix_descriptor(stages.weights(stage));
        STORMCELL_UNROLL
        for (int step = 0; step < Shape::kBlocks * kSteps; ++step) {
          const int block = step / kSteps, within = step % kSteps;
          STORMCELL_UNROLL
          for (int p = 0; p < kPanels; ++p)
            x.multiply(
                sum[p],
                weights + ((block * Shape::kWeightBlockBytes + p * Shape::kBoxBytes) >> 4) + within * kDescriptorStep,
                rows + (block * Shape::kRowBlockBytes >> 4) + within * kDescriptorStep, !is_first || step > 0);
        }
      },
      [] {});

  store_swapped<kNarrow, kPanels>(x, a, tile, thread, sum, before);
}

template <class Shape, class X>
STORMCELL_DEVICE_INLINED void swapped_tile(X& x, const ProductArgs<Bf16>& a, const Stages<Shape>& stages,
                                           const Tile& tile, RingPlace<Shape::kStages>& at) {
  switch (narrow_side(tile.rows)) {
    case 8:
      return swapped_tile<8>(x, a, stages, tile, at);
    case 16:
      return swapped_tile<16>(x, a, stages, tile, at);
    case 32:
      return swapped_tile<32>(x, a, stages, tile, at);
    default:
      return swapped_tile<64>(x, a, stages, tile, at);
  }
}

/// The work of a block's SwappedShape::kThreads threads.
template <int kPanels, class X>
STORMCELL_DEVICE_INLINED void swapped_block(X& x, const typename X::Map* map, const ProductArgs<Bf16>& a) {
  using Shape = SwappedShape<kPanels>;
  static_assert(kNarrowRows == row_block(Regime::swapped));
  const Stages<Shape> stages(x);
  stages.begin(x);
  const Work<Shape> work(a, Regime::swapped);
  if (thread_of(x) < 128) {
    produce(x, a, map, work, stages, [](int32_t rows) { return narrow_side(rows); });
  } else if (thread_of(x) >= 256) {
    if (thread_of(x) == 256) produce_weights(x, a, map, work, stages);
  } else {
    RingPlace<Shape::kStages> at;
    for (int64_t t = work.first(x); t < work.tiles; t += work.step(x)) swapped_tile(x, a, stages, work.tile(a, t), at);
  }
}

}  // namespace stormcell::gpu
