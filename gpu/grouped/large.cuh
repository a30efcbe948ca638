// Many rows an expert: 128 rows a tile, 64 for each of two consumer warpgroups, by 256 rows of weights (256 columns of y; with a gate 128,
// the gate's and the other panel side by side). Bound: the tensor cores; 192 KiB of stages are on their way meanwhile.
#pragma once
#include "gpu/grouped/tensor.cuh"
#include "gpu/grouped/transpose.h"

namespace stormcell::gpu {

template <int kPanels>
using LargeShape = TensorShape<4, 128, 256 / kPanels, kPanels, 4, 2, 2>;

template <int kPanels>
__global__ void __launch_bounds__(LargeShape<kPanels>::kThreads, 1)
    large_kernel(const __grid_constant__ CUtensorMap map, const __grid_constant__ ProductArgs<Bf16> a) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  using Shape = LargeShape<kPanels>;
  static_assert(Shape::kRows == row_block(Regime::large));
  constexpr int kHalf = 128;  // rows of weights that one wgmma takes
  const Stages<Shape> stages;
  stages.begin();
  const Work<Shape> work(a, Regime::large);
  if (threadIdx.x < 128) {
    ptx::fewer_registers<40>();
    produce(a, &map, work, stages, [](int32_t) { return Shape::kRows; });
  } else {
    ptx::more_registers<232>();
    CudaExecution x;
    const int group = threadIdx.x / 128 - 1, thread = threadIdx.x % 128, quad = thread % 4;
    float sum[2][kHalf / 2];
    int32_t use = 0;
    for (int64_t t = blockIdx.x; t < work.tiles; t += gridDim.x) {
      const Tile tile = work.tile(a, t);
      consume(a, stages, use, [&](int stage, bool is_first) {
        const uint64_t rows = matrix_descriptor(stages.rows(stage) + group * 64 * kRowBytes);
        const uint64_t weights[2] = {matrix_descriptor(stages.weights(stage)),
                                     matrix_descriptor(stages.weights(stage) + kHalf * kRowBytes)};
#pragma unroll
        for (int step = 0; step < kSteps; ++step) {
#pragma unroll
          for (int half = 0; half < 2; ++half)
            ptx::multiply<kHalf>(sum[half], rows + step * kDescriptorStep, weights[half] + step * kDescriptorStep, !is_first || step > 0);
        }
      });

      const int32_t first_column = tile.column_block * Shape::kColumns;
#pragma unroll
      for (int below = 0; below < 2; ++below) {  // this thread's two rows, eight apart
        const int32_t row = group * 64 + sum_row(thread, 2 * below);
        const int32_t slot = tile.first + least(row, tile.rows - 1);
        Bf16* y = a.y + a.target_row(slot) * a.n;
        const float weight = a.slot_weight(slot);
#pragma unroll
        for (int half = 0; half < (kPanels == 2 ? 1 : 2); ++half) {
#pragma unroll
          for (int part = 0; part < kHalf / 32; ++part) {  // 32 columns: a word of each of four groups of eight columns a thread
            uint32_t word[4];
#pragma unroll
            for (int i = 0; i < 4; ++i) {
              const int at = (part * 4 + i) * 4 + below * 2;
              const int32_t c = first_column + half * kHalf + sum_column(thread, at);
              float low = 0, high = 0;
              if (c < a.n) {
                if constexpr (kPanels == 2) {
                  const float first[2] = {sum[0][at], sum[1][at]}, second[2] = {sum[0][at + 1], sum[1][at + 1]};
                  low = a.finish(tile.expert, c, first, weight), high = a.finish(tile.expert, c + 1, second, weight);
                } else {
                  const float first[1] = {sum[half][at]}, second[1] = {sum[half][at + 1]};
                  low = a.finish(tile.expert, c, first, weight), high = a.finish(tile.expert, c + 1, second, weight);
                }
              }
              word[i] = two_bf16(low, high);
            }
            transpose_quad(x, word);
            const int32_t column = first_column + half * kHalf + part * 32 + quad * 8;
            if (row < tile.rows && column < a.n) *reinterpret_cast<uint4*>(y + column) = make_uint4(word[0], word[1], word[2], word[3]);
          }
        }
      }
    }
  }
#endif
}

}  // namespace stormcell::gpu
