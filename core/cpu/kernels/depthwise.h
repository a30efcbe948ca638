// The sums of a depthwise convolution: a part of the kernels that go on with them. On one thread.
#pragma once
#include <cstdint>

#include "core/cpu/kernels/conv2d.h"

namespace stormcell::cpu {

/// Sums of the output pixels [first, end), counted row by row through all maps, of a depthwise convolution: to y[end -
/// first, channels]. `weights` are pack_conv2d()'s. Each sum is one chain over (kernel row, kernel column), what lies
/// in the padding left out.
void depthwise_pixels(const Conv2dShape& shape, const float* x, const float* weights, int64_t first, int64_t end,
                      float* y);

}  // namespace stormcell::cpu
