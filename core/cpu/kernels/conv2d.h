// 2-D convolution over NHWC tensors through the packed panels of the dense product.
#pragma once
#include <cstddef>
#include <cstdint>

#include "core/base/dtype.h"
#include "core/base/thread_team.h"
#include "core/cpu/kernels/linear.h"

namespace stormcell::cpu {

struct Conv2dShape {
  int64_t images = 1, height = 0, width = 0, in_channels = 0, out_channels = 0;
  int64_t kernel_height = 1, kernel_width = 1;
  int64_t stride_height = 1, stride_width = 1;
  int64_t pad_height = 0, pad_width = 0;  ///< zeros on each side
  int64_t dilation_height = 1, dilation_width = 1;
  int64_t groups = 1;  ///< in_channels and out_channels are multiples of it

  int64_t out_height() const {
    return (height + 2 * pad_height - dilation_height * (kernel_height - 1) - 1) / stride_height + 1;
  }
  int64_t out_width() const {
    return (width + 2 * pad_width - dilation_width * (kernel_width - 1) - 1) / stride_width + 1;
  }
  /// Each channel by itself: a kernel of its own, vectorised over channels.
  bool depthwise() const { return groups > 1 && groups == in_channels && groups == out_channels; }
  int64_t group_k() const { return kernel_height * kernel_width * (in_channels / groups); }
};

/// Bytes of the packed weights; dtype f32 or bf16 (depthwise: always f32).
size_t packed_conv2d_bytes(const Conv2dShape& shape, DType dtype);

/// Packs weights stored as PyTorch stores them, [out, in / groups, kernel_height, kernel_width] in f32, f16 or bf16,
/// multiplied by channel_scale[out] if not null (a batch norm folded in). `out` is 64-byte aligned.
void pack_conv2d(const Conv2dShape& shape, const void* weights, DType stored, const float* channel_scale, DType to,
                 std::byte* out);

/// y[images, out_height, out_width, out_channels] = epilogue(x[images, height, width, in_channels] * weights). The
/// epilogue's bias, activation, multiply, residual and scale count; rows are output pixels and ld_extra is
/// out_channels.
/// `weights` are pack_conv2d()'s bytes of element type `dtype`.
void conv2d(ThreadTeam& team, const Conv2dShape& shape, const float* x, const std::byte* weights, DType dtype,
            const Epilogue& epilogue, float* y, std::byte* scratch);

/// Bytes of 64-byte aligned scratch for as many images or fewer.
size_t conv2d_scratch_bytes(const Conv2dShape& shape, DType dtype, int threads);

}  // namespace stormcell::cpu
