// Up to 64 rows an expert: weights are the tensor cores' 64-row side and rows of x the narrow one (8, 16, 32 or 64), so that nothing is
// multiplied in vain and a tile needs only 64 rows of weights. Bound: the weights' bytes; up to 96 KiB of them are on their way a block.
#pragma once
#include "gpu/grouped/tensor.cuh"
#include "gpu/grouped/transpose.h"

namespace stormcell::gpu {

template <int kPanels>
using SwappedShape = TensorShape<kPanels, 64, 64, kPanels, kPanels == 2 ? 8 : 12, 4, 1>;

/// Rows that the narrow side takes for so many.
STORMCELL_BOTH constexpr int32_t narrow_side(int32_t rows) { return rows <= 8 ? 8 : rows <= 16 ? 16 : rows <= 32 ? 32 : 64; }

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
template <int kNarrow, class Shape>
__device__ void swapped_tile(const ProductArgs<Bf16>& a, const Stages<Shape>& stages, const Tile& tile, int32_t& use) {
  constexpr int kPanels = Shape::kPanels;
  const int thread = threadIdx.x % 128;
  float sum[kPanels][kNarrow / 2];
  consume(a, stages, use, [&](int stage, bool is_first) {
    const uint64_t rows = matrix_descriptor(stages.rows(stage));
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
#pragma unroll
      for (int p = 0; p < kPanels; ++p)
        ptx::multiply<kNarrow>(sum[p], matrix_descriptor(stages.weights(stage) + p * Shape::kBoxBytes) + step * kDescriptorStep,
                               rows + step * kDescriptorStep, !is_first || step > 0);
    }
  });

  CudaExecution x;
  // Rows of the sums are columns of y, their columns are slots. A thread's two slots of a group of eight, at two columns eight apart.
#pragma unroll
  for (int i = 0; i < kNarrow / 8; ++i) {
#pragma unroll
    for (int below = 0; below < 2; ++below) {
      const int32_t c = tile.column_block * Shape::kColumns + sum_row(thread, 2 * below);
      float value[2];
#pragma unroll
      for (int second = 0; second < 2; ++second) {
        const int at = i * 4 + below * 2 + second;
        const int32_t row = sum_column(thread, at);
        value[second] = 0;
        if (c < a.n && row < tile.rows) {
          float all[kPanels];
#pragma unroll
          for (int p = 0; p < kPanels; ++p) all[p] = sum[p][at];
          value[second] = a.finish(tile.expert, c, all, a.slot_weight(tile.first + row));
        }
      }
      const uint32_t two = pair_columns(x, value[0], value[1]);
      const int upper = thread / 4 % 2;
      const int32_t row = sum_column(thread, i * 4) + upper, column = c - upper;
      if (row < tile.rows && column < a.n) *reinterpret_cast<uint32_t*>(a.y + a.target_row(tile.first + row) * a.n + column) = two;
    }
  }
}
#endif

template <int kPanels>
__global__ void __launch_bounds__(SwappedShape<kPanels>::kThreads, 1)
    swapped_kernel(const __grid_constant__ CUtensorMap map, const __grid_constant__ ProductArgs<Bf16> a) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  using Shape = SwappedShape<kPanels>;
  static_assert(Shape::kRows == row_block(Regime::swapped));
  const Stages<Shape> stages;
  stages.begin();
  const Work<Shape> work(a, Regime::swapped);
  if (threadIdx.x < 128) {
    produce(a, &map, work, stages, [](int32_t rows) { return narrow_side(rows); });
  } else {
    int32_t use = 0;
    for (int64_t t = blockIdx.x; t < work.tiles; t += gridDim.x) {
      const Tile tile = work.tile(a, t);
      switch (narrow_side(tile.rows)) {
        case 8:
          swapped_tile<8>(a, stages, tile, use);
          break;
        case 16:
          swapped_tile<16>(a, stages, tile, use);
          break;
        case 32:
          swapped_tile<32>(a, stages, tile, use);
          break;
        default:
          swapped_tile<64>(a, stages, tile, use);
      }
    }
  }
#endif
}

}  // namespace stormcell::gpu
