// Many rows an expert: 128 rows a tile, 64 for each of two consumer warpgroups, by 256 rows of weights (256 columns of y; with a gate 128,
// the gate's and the other panel side by side). Bound: the tensor cores; 192 KiB of stages are on their way meanwhile.
#pragma once
#include "gpu/grouped/tensor.cuh"
#include "gpu/grouped/tensor_store.h"

namespace stormcell::gpu {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
/// One tile, by consumer warpgroup `group` of two.
template <class Shape>
__device__ __forceinline__ void large_tile(const ProductArgs<Bf16>& a, const Stages<Shape>& stages, const Tile& tile,
                                           RingPlace<Shape::kStages>& at, int group) {
  constexpr int kHalf = 128;  // rows of weights that one wgmma takes
  float sum[2][kHalf / 2];
  consume(a, stages, at, [&](int stage, bool is_first) {
    const uint64_t rows = matrix_descriptor(stages.rows(stage) + group * 64 * kRowBytes);
    const uint64_t weights[2] = {matrix_descriptor(stages.weights(stage)), matrix_descriptor(stages.weights(stage) + kHalf * kRowBytes)};
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
#pragma unroll
      for (int half = 0; half < 2; ++half)
        ptx::multiply<kHalf>(sum[half], rows + step * kDescriptorStep, weights[half] + step * kDescriptorStep, !is_first || step > 0);
    }
  });

  CudaExecution x;
  store_large<Shape::kPanels>(x, a, tile, group, threadIdx.x % 128, sum);
}
#endif

template <int kPanels>
__global__ void __launch_bounds__(LargeShape<kPanels>::kThreads, 1)
    large_kernel(const __grid_constant__ CUtensorMap map, const __grid_constant__ ProductArgs<Bf16> a) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  using Shape = LargeShape<kPanels>;
  static_assert(Shape::kRows == row_block(Regime::large));
  const Stages<Shape> stages;
  stages.begin();
  const Work<Shape> work(a, Regime::large);
  if (threadIdx.x < 128) {
    ptx::fewer_registers<40>();
    produce(a, &map, work, stages, [](int32_t) { return Shape::kRows; });
  } else {
    ptx::more_registers<232>();
    RingPlace<Shape::kStages> at;
    for (int64_t t = work.first(); t < work.tiles; t += work.step())
      large_tile(a, stages, work.tile(a, t), at, static_cast<int>(threadIdx.x) / 128 - 1);
  }
#else
  __trap();  // built without this card's instructions: a fault, not a result that was never written
#endif
}

}  // namespace stormcell::gpu
