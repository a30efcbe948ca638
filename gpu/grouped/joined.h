// Computes tiles of large and of swapped in one launch, for products whose experts may have more than 64 rows: the host
// does not know that no other has fewer, and an empty launch costs more than a microsecond. A block takes its tiles of
// large, then those of swapped, in one ring of stages. Stages of both kinds have the same size, so nothing is drained
// between them. Large's two warpgroups of consumers multiply its tiles; the second leaves after them, the first gives
// back for both. Bound: the weights' bytes and the tensor cores, one after the other.
#pragma once
#include "gpu/grouped/large.h"
#include "gpu/grouped/swapped.h"

namespace stormcell::gpu {

/// The work of a block's JoinedShape::kThreads threads.
template <int kPanels, class X>
STORMCELL_DEVICE_INLINED void joined_block(X& x, const typename X::Map* map, const ProductArgs<Bf16>& a) {
  using Wide = JoinedShape<kPanels>;
  using Narrow = JoinedNarrowShape<kPanels>;
  static_assert(Wide::kRows == row_block(Regime::large) && Narrow::kRows == row_block(Regime::swapped));
  const Stages<Wide> stages(x);
  const Stages<Narrow> narrow_stages(x);  // the same ones
  stages.begin(x);
  const Work<Wide> large(a, Regime::large);
  const Work<Narrow> swapped(a, Regime::swapped);
  int64_t next = large.first(x);
  if (thread_of(x) < 128) {
    x.template fewer_registers<56>();
    Produced<Wide::kStages> done;
    produce_tiles(x, a, map, large, stages, next, done, [](int32_t) { return Wide::kRows; });
    produce_tiles(x, a, map, swapped, narrow_stages, next, done, [](int32_t rows) { return narrow_side(rows); });
    done.finish(x, narrow_stages);
  } else {
    x.template more_registers<224>();
    const int group = x.thread() / 128 - 1;
    RingPlace<Wide::kStages> at;
    large_tiles(x, a, stages, large, next, at, group);
    if (group > 0) return;
    take_tiles(next, swapped.step(x), swapped.tiles,
               [&](int64_t t) { swapped_tile(x, a, narrow_stages, swapped.tile(a, t), at); });
  }
}

}  // namespace stormcell::gpu
