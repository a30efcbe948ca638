// 2-D convolutions with few output channels over NHWC tensors, and chains of residual blocks of them, by way of planes:
// in f32, where is_planar().
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/dtype.h"
#include "core/base/thread_team.h"
#include "core/cpu/kernels/conv2d.h"
#include "core/cpu/kernels/grouped_maps.h"

namespace stormcell::cpu {

/// Neither stride, groups nor dilation, and padding that stays below the kernel.
bool is_planar(const Conv2dShape& shape);

/// Bytes of the packed weights: output channels in groups of 12 at most, each [kernel row][kernel column][input
/// channel][output channel].
size_t planar_conv2d_bytes(const Conv2dShape& shape);
/// Packs weights [out, kernel_height, kernel_width, in] in f32, f16 or bf16.
void pack_planar_conv2d(const Conv2dShape& shape, const void* weights, DType stored, float* out);

/// Operations on the sums of a planar convolution.
struct PlanarEpilogue {
  const float* bias = nullptr;  ///< [out_channels] or null
  bool relu = false;
  const float* residual = nullptr;  ///< like y, or null
  bool residual_first = false;      ///< the activation follows the sum with the residual
};
/// Computes what direct_conv2d() does, bit for bit, with any number of threads and images.
void planar_conv2d(ThreadTeam& team, const Conv2dShape& shape, const float* x, const float* weights,
                   const PlanarEpilogue& epilogue, float* y, std::byte* scratch);
/// The same for the maps of all branches, each with its branch's weights and bias (that of the epilogue does not
/// count); residual and y are indexed by slot. `shape.images` does not count.
void planar_conv2d(ThreadTeam& team, const Conv2dShape& shape, const GroupedMaps<float>& maps,
                   const PlanarEpilogue& epilogue, float* y, std::byte* scratch);
/// Bytes of 64-byte aligned scratch, for any number of images.
size_t planar_conv2d_scratch_bytes(const Conv2dShape& shape, int threads);

/// One residual block: x + second(relu(first(x))), convolutions of one shape from as many channels to as many that keep
/// the extents.
struct ResidualBlockWeights {
  const float *first = nullptr, *first_bias = nullptr, *second = nullptr,
              *second_bias = nullptr;  ///< weights as pack_planar_conv2d() packs
};
/// A chain of blocks; an image goes through all of them on one thread, in its cache, or in bands of rows on all threads
/// (maps_shared_by_threads()). Bit for bit what planar_conv2d() gives one after the other. `y` may be `x`.
void residual_blocks(ThreadTeam& team, const Conv2dShape& shape, const float* x,
                     std::span<const ResidualBlockWeights> blocks, float* y, std::byte* scratch);
/// The same for the maps of all branches, each through the `blocks` blocks of its branch; y is indexed by slot.
void residual_blocks(ThreadTeam& team, const Conv2dShape& shape, const GroupedMaps<ResidualBlockWeights>& maps,
                     size_t blocks, float* y, std::byte* scratch);
/// How many of `maps`, the last on the line, the threads share by rows: what is left when all have had equally many
/// whole ones; 0 where a convolution would win less by it than the meeting behind it costs.
int64_t maps_shared_by_threads(const Conv2dShape& shape, int64_t maps, int threads);
size_t residual_blocks_scratch_bytes(const Conv2dShape& shape, int threads);

}  // namespace stormcell::cpu
