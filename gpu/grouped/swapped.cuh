// Up to 64 rows an expert: weights are the tensor cores' 64-row side and rows of x the narrow one (8, 16, 32 or 64), so that nothing is
// multiplied in vain and a tile needs only 64 rows of weights. A stage is 128 deep: what a stage costs beside its bytes is paid half as
// often. Bound: the weights' bytes; up to 96 KiB of them (128 with a gate) are on their way a block.
#pragma once
#include "gpu/grouped/tensor.cuh"
#include "gpu/grouped/tensor_store.h"

namespace stormcell::gpu {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
template <int kNarrow, class Shape>
__device__ void swapped_tile(const ProductArgs<Bf16>& a, const Stages<Shape>& stages, const Tile& tile, RingPlace<Shape::kStages>& at) {
  constexpr int kPanels = Shape::kPanels;
  const int thread = threadIdx.x % 128;
  CudaExecution x;
  const SwappedFetched<kNarrow, kPanels> before(x, a, tile, thread, stages.slots());
  float sum[kPanels][kNarrow / 2];
  consume(
      a, stages, at,
      [&](int stage, bool is_first) {
        const uint64_t rows = matrix_descriptor(stages.rows(stage));
        const uint64_t weights = matrix_descriptor(stages.weights(stage));
#pragma unroll
        for (int step = 0; step < Shape::kBlocks * kSteps; ++step) {
          const int block = step / kSteps, within = step % kSteps;
#pragma unroll
          for (int p = 0; p < kPanels; ++p)
            ptx::multiply<kNarrow>(sum[p],
                                   weights + ((block * Shape::kWeightBlockBytes + p * Shape::kBoxBytes) >> 4) + within * kDescriptorStep,
                                   rows + (block * Shape::kRowBlockBytes >> 4) + within * kDescriptorStep, !is_first || step > 0);
        }
      },
      [] {});

  store_swapped<kNarrow, kPanels>(x, a, tile, thread, sum, before);
}

template <class Shape>
__device__ __forceinline__ void swapped_tile(const ProductArgs<Bf16>& a, const Stages<Shape>& stages, const Tile& tile,
                                             RingPlace<Shape::kStages>& at) {
  switch (narrow_side(tile.rows)) {
    case 8:
      return swapped_tile<8>(a, stages, tile, at);
    case 16:
      return swapped_tile<16>(a, stages, tile, at);
    case 32:
      return swapped_tile<32>(a, stages, tile, at);
    default:
      return swapped_tile<64>(a, stages, tile, at);
  }
}
#endif

template <int kPanels>
__global__ void __launch_bounds__(SwappedShape<kPanels>::kThreads, 1)
    swapped_kernel(const __grid_constant__ CUtensorMap map, const __grid_constant__ ProductArgs<Bf16> a) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  using Shape = SwappedShape<kPanels>;
  static_assert(kNarrowRows == row_block(Regime::swapped));
  const Stages<Shape> stages;
  stages.begin();
  const Work<Shape> work(a, Regime::swapped);
  if (threadIdx.x < 128) {
    produce(a, &map, work, stages, [](int32_t rows) { return narrow_side(rows); });
  } else if (threadIdx.x >= 256) {
    if (threadIdx.x == 256) produce_weights(a, &map, work, stages);
  } else {
    RingPlace<Shape::kStages> at;
    for (int64_t t = work.first(); t < work.tiles; t += work.step()) swapped_tile(a, stages, work.tile(a, t), at);
  }
#else
  __trap();  // built without this card's instructions: a fault, not a result that was never written
#endif
}

}  // namespace stormcell::gpu
