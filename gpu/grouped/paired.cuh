// The large kernel as a variant: two blocks of a cluster take 128 rows each of one expert against the same 256 rows of weights, of which
// each brings half to both, so that a stage asks L2 for 32 KiB a block in place of 48. One wgmma is 256 wide: a consumer's rows are read
// once a step in place of twice. Where an expert's rows end in the first block, the second multiplies zeros and stores nothing, but takes
// part in every barrier. What crosses blocks has cluster scope, acquired and released: ptxas makes that a full fence for each stage given
// back, and an invalidated L1 for each one waited for. Bound: the tensor cores.
#pragma once
#include "gpu/grouped/tensor.cuh"
#include "gpu/grouped/tensor_store.h"

namespace stormcell::gpu {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
template <class Shape>
__device__ __forceinline__ void paired_product(const CUtensorMap& map, const ProductArgs<Bf16>& a) {
  static_assert(Shape::kRows * Shape::kCluster == row_block(Regime::large, {LargeVariant::paired}));
  const Stages<Shape> stages;
  stages.begin();
  const Work<Shape> work(a, Regime::large);
  if (threadIdx.x < 128) {
    ptx::fewer_registers<56>();
    produce(a, &map, work, stages, [](int32_t) { return Shape::kRows; });
  } else {
    ptx::more_registers<224>();
    CudaExecution x;
    const int group = threadIdx.x / 128 - 1, thread = threadIdx.x % 128;
    float sum[2][64];
    RingPlace<Shape::kStages> at;
    for (int64_t t = work.first(); t < work.tiles; t += work.step()) {
      const Tile tile = work.tile(a, t);
      consume(a, stages, at, [&](int stage, bool is_first) {
        const uint64_t rows = matrix_descriptor(stages.rows(stage) + group * 64 * kRowBytes);
        const uint64_t weights = matrix_descriptor(stages.weights(stage));
#pragma unroll
        for (int step = 0; step < kSteps; ++step)
          ptx::multiply_256(sum, rows + step * kDescriptorStep, weights + step * kDescriptorStep, !is_first || step > 0);
      });

      store_large<Shape::kPanels>(x, a, tile, group, thread, sum);
    }
  }
  ptx::sync_cluster();  // the other block may still give stages back to this one's barriers
}
#endif

template <int kPanels>
__global__ void __launch_bounds__(PairedShape<kPanels>::kThreads, 1)
    paired_kernel(const __grid_constant__ CUtensorMap map, const __grid_constant__ ProductArgs<Bf16> a) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  paired_product<PairedShape<kPanels>>(map, a);
#else
  __trap();  // built without this card's instructions: a fault, not a result that was never written
#endif
}

}  // namespace stormcell::gpu
