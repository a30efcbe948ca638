// 2-D convolution over NHWC tensors without gathering: panels as narrow as the output channels ask for, in f32.
#pragma once
#include <cstddef>
#include <cstdint>

#include "core/base/dtype.h"
#include "core/base/thread_team.h"
#include "core/cpu/kernels/conv2d.h"
#include "core/cpu/kernels/grouped_maps.h"

namespace stormcell::cpu {

/// Output channels [first, first + width) of a convolution: 64 of them, of the last ones 16 or 32; those beyond
/// out_channels are zeros.
struct ConvPanel {
  int64_t first = 0, width = 0;
};
int64_t conv_panel_count(int64_t out_channels);
ConvPanel conv_panel(int64_t out_channels, int64_t index);

/// Neither groups nor dilation.
bool is_direct(const Conv2dShape& shape);

/// Bytes of the packed weights.
size_t direct_conv2d_bytes(const Conv2dShape& shape);
/// Packs weights [out, kernel_height, kernel_width, in] in f32, f16 or bf16. `out` is 64-byte aligned.
void pack_direct_conv2d(const Conv2dShape& shape, const void* weights, DType stored, float* out);

/// Computes what conv2d() does, bit for bit the same with any number of threads and images.
void direct_conv2d(ThreadTeam& team, const Conv2dShape& shape, const float* x, const float* weights,
                   const Epilogue& epilogue, float* y, std::byte* scratch);
/// The same for the maps of all branches, each with its branch's weights and bias (that of the epilogue does not
/// count); residual and y are indexed by slot. `shape.images` does not count.
void direct_conv2d(ThreadTeam& team, const Conv2dShape& shape, const GroupedMaps<float>& maps, const Epilogue& epilogue,
                   float* y, std::byte* scratch);
/// Bytes of 64-byte aligned scratch, for any number of images.
size_t direct_conv2d_scratch_bytes(const Conv2dShape& shape, int threads);

}  // namespace stormcell::cpu
