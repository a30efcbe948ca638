// A depthwise convolution and the pointwise one behind it as one, channels last, in f32: the map between them is never
// in memory.
#pragma once
#include <cstddef>
#include <cstdint>

#include "core/base/thread_team.h"
#include "core/cpu/kernels/conv2d.h"

namespace stormcell::cpu {

/// y[images, out_height, out_width, out_channels] = epilogue((x * depthwise) * pointwise), the epilogue's fields as of
/// conv2d(). `shape` is that of the depthwise convolution; its weights are pack_conv2d()'s, those of the pointwise one
/// pack_direct_conv2d()'s of [out_channels, 1, 1, in_channels]. Bit for bit what conv2d() and direct_conv2d() give one
/// after the other, with any number of threads and images.
void separable_conv2d(ThreadTeam& team, const Conv2dShape& shape, int64_t out_channels, const float* x,
                      const float* depthwise, const float* pointwise, const Epilogue& epilogue, float* y,
                      std::byte* scratch);

/// Bytes of 64-byte aligned scratch, for any number of images.
size_t separable_conv2d_scratch_bytes(const Conv2dShape& shape, int threads);

}  // namespace stormcell::cpu
