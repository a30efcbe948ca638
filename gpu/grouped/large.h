// Many rows an expert: 128 rows a tile, 64 for each of two consumer warpgroups, by 256 rows of weights (256 columns of
// y; with a gate 128, the gate's and the other panel side by side), in one wgmma 256 wide a step, which reads a
// consumer's rows once. Its kernel is that of joined.h. Bound: the tensor cores; 192 KiB of stages are on their way
// meanwhile.
#pragma once
#include "gpu/grouped/tensor.h"
#include "gpu/grouped/tensor_store.h"

namespace stormcell::gpu {

/// The tiles of a block, from `next` on, by consumer warpgroup `group` of two. Which tile comes next is looked up while
/// the tensor cores work.
template <class Shape, class X>
STORMCELL_DEVICE_INLINED void large_tiles(X& x, const ProductArgs<Bf16>& a, const Stages<Shape>& stages,
                                          const Work<Shape>& work, int64_t& next, RingPlace<Shape::kStages>& at,
                                          int group) {
  Tile coming;
  if (next < work.tiles) coming = work.tile(a, next);
  take_tiles(next, work.step(x), work.tiles, [&](int64_t t) {
    const Tile tile = coming;
    float sum[2][64];
    consume(
        x, a, stages, at,
        [&](int stage, bool is_first) {
          const uint64_t rows = matrix_descriptor(stages.rows(stage) + group * 64 * kRowBytes);
          const uint64_t weights = matrix_descriptor(stages.weights(stage));
          STORMCELL_UNROLL
          for (int step = 0; step < kSteps; ++step)
            x.multiply(sum, rows + step * kDescriptorStep, weights + step * kDescriptorStep, !is_first || step > 0);
        },
        [&] {
          if (t + work.step(x) < work.tiles) coming = work.tile(a, t + work.step(x));
        });

    store_large<Shape::kPanels>(x, a, tile, group, thread_of(x) % 128, sum);
  });
}

}  // namespace stormcell::gpu
