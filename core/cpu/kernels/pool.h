// Pooling over NHWC tensors.
#pragma once
#include <cstddef>
#include <cstdint>

#include "core/base/thread_team.h"

namespace stormcell::cpu {

struct Pool2dShape {
  int64_t images = 1, height = 0, width = 0, channels = 0;
  int64_t kernel_height = 1, kernel_width = 1;
  int64_t stride_height = 1, stride_width = 1;
  int64_t pad_height = 0, pad_width = 0;  ///< at most half the kernel: every window holds a pixel

  int64_t out_height() const { return (height + 2 * pad_height - kernel_height) / stride_height + 1; }
  int64_t out_width() const { return (width + 2 * pad_width - kernel_width) / stride_width + 1; }
};

/// y[images, channels] = mean over all pixels; the same bits with any number of threads and images.
void global_average_pool(ThreadTeam& team, const float* x, int64_t images, int64_t pixels, int64_t channels, float* y,
                         std::byte* scratch);
/// Bytes of 64-byte aligned scratch for as many images or fewer.
size_t global_average_pool_scratch_bytes(int64_t images, int64_t pixels, int64_t channels);
/// Largest value of each window; padding never wins.
void max_pool2d(ThreadTeam& team, const Pool2dShape& shape, const float* x, float* y);
/// Mean of each window; padding counts as zeros (PyTorch's default).
void average_pool2d(ThreadTeam& team, const Pool2dShape& shape, const float* x, float* y);

}  // namespace stormcell::cpu
