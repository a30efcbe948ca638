// What the kernels of a convolution read of its node.
#pragma once
#include "core/cpu/cpu_kernel.h"
#include "core/cpu/kernels/conv2d.h"

namespace stormcell::cpu {

/// Of one image: how many come is known when it runs.
inline Conv2dShape conv2d_shape(const Making& m) {
  const TensorType &x = m.type(0), &w = m.type(1);
  Conv2dShape shape;
  shape.height = x.content[0].constant();
  shape.width = x.content[1].constant();
  shape.in_channels = x.content[2].constant();
  shape.out_channels = w.content[0].constant();
  shape.kernel_height = w.content[1].constant();
  shape.kernel_width = w.content[2].constant();
  shape.stride_height = shape.stride_width = integer_of(m.node(), "stride");
  shape.pad_height = shape.pad_width = integer_of(m.node(), "padding");
  shape.groups = integer_of(m.node(), "groups");
  return shape;
}

}  // namespace stormcell::cpu
