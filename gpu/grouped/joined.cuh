// Tiles of large and of swapped in one launch, for products of which some expert may have more than 64 rows: the host does not know that no
// other has fewer, and a launch of nothing costs more than a microsecond. A block takes its tiles of large, then those of swapped where the
// first list ends, in one ring of stages: those of a tile of either kind have the same size, so nothing is drained between. Large's two
// warpgroups of consumers multiply its tiles; the second leaves after them, the first gives back for both. Bound: the weights' bytes and
// the tensor cores, one after the other.
#pragma once
#include "gpu/grouped/large.cuh"
#include "gpu/grouped/swapped.cuh"

namespace stormcell::gpu {

template <int kPanels>
__global__ void __launch_bounds__(JoinedShape<kPanels>::kThreads, 1)
    joined_kernel(const __grid_constant__ CUtensorMap map, const __grid_constant__ ProductArgs<Bf16> a) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  using Wide = JoinedShape<kPanels>;
  using Narrow = JoinedNarrowShape<kPanels>;
  static_assert(Wide::kRows == row_block(Regime::large) && Narrow::kRows == row_block(Regime::swapped));
  const Stages<Wide> stages;
  const Stages<Narrow> narrow_stages;  // the same ones
  stages.begin();
  const Work<Wide> large(a, Regime::large);
  const Work<Narrow> swapped(a, Regime::swapped);
  int64_t next = large.first();
  if (threadIdx.x < 128) {
    ptx::fewer_registers<56>();
    Produced<Wide::kStages> done;
    produce_tiles(a, &map, large, stages, next, done, [](int32_t) { return Wide::kRows; });
    produce_tiles(a, &map, swapped, narrow_stages, next, done, [](int32_t rows) { return narrow_side(rows); });
    done.finish(narrow_stages);
  } else {
    ptx::more_registers<224>();
    const int group = static_cast<int>(threadIdx.x) / 128 - 1;
    RingPlace<Wide::kStages> at;
    large_tiles(a, stages, large, next, at, group);
    if (group > 0) return;
    take_tiles(next, swapped.step(), swapped.tiles, [&](int64_t t) { swapped_tile(a, narrow_stages, swapped.tile(a, t), at); });
  }
#else
  __trap();  // built without this card's instructions: a fault, not a result that was never written
#endif
}

}  // namespace stormcell::gpu
