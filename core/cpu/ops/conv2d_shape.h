// Reads from a node what the kernels of a convolution need.
#pragma once
#include "core/cpu/cpu_kernel.h"
#include "core/cpu/kernels/conv2d.h"
#include "core/cpu/kernels/planar_conv2d.h"

namespace stormcell::cpu {

/// The shape for one image: the number of images is known when it runs. Its weights are like input `weight`.
inline Conv2dShape conv2d_shape(const BuildContext& m, size_t weight, int64_t groups) {
  const TensorType &x = m.type(0), &w = m.type(weight);
  Conv2dShape shape;
  shape.height = x.content[0].constant();
  shape.width = x.content[1].constant();
  shape.in_channels = x.content[2].constant();
  shape.out_channels = w.content[0].constant();
  shape.kernel_height = w.content[1].constant();
  shape.kernel_width = w.content[2].constant();
  shape.stride_height = shape.stride_width = integer_of(m.node(), "stride");
  shape.pad_height = shape.pad_width = integer_of(m.node(), "padding");
  shape.groups = groups;
  return shape;
}
inline Conv2dShape conv2d_shape(const BuildContext& m, size_t weight = 1) {
  return conv2d_shape(m, weight, integer_of(m.node(), "groups"));
}
/// The shape of the depthwise half of a separable convolution.
inline Conv2dShape separable_shape(const BuildContext& m) {
  return conv2d_shape(m, 1, m.type(0).content[2].constant());
}

/// The shape of the convolutions of residual blocks, which keep the extents.
inline Conv2dShape residual_shape(const BuildContext& m, size_t weight = 1) {
  const TensorType& x = m.type(0);
  Conv2dShape shape;
  shape.height = x.content[0].constant(), shape.width = x.content[1].constant();
  shape.in_channels = shape.out_channels = x.content[2].constant();
  shape.kernel_height = shape.kernel_width = m.type(weight).content[1].constant();
  shape.pad_height = shape.pad_width = shape.kernel_width / 2;
  return shape;
}

/// The operations of a convolution on its sums.
class Conv2dEpilogue {
 public:
  explicit Conv2dEpilogue(const BuildContext& m)
      : bias_(extra_input(m.node(), "bias")),
        residual_(extra_input(m.node(), "residual")),
        residual_first_(flag_of(m.node(), "residual_first")),
        activation_(parse_activation(word_of(m.node(), "activation"))) {
    if (bias_) bias_handle_ = m.f32_weight(*bias_);
  }

  /// The epilogue for planes, whose kernels know no activation but ReLU.
  PlanarEpilogue of_planes(const Call& c) const {
    PlanarEpilogue e;
    e.relu = activation_ == Activation::relu, e.bias = bias(c), e.residual = residual(c),
    e.residual_first = residual_first_;
    return e;
  }
  /// The epilogue for panels, whose rows are pixels.
  Epilogue of_panels(const Call& c, int64_t channels) const {
    Epilogue e;
    e.activation = activation_, e.bias = bias(c), e.residual = residual(c), e.residual_first = residual_first_;
    if (e.residual) e.ld_extra = channels;
    return e;
  }

 private:
  /// [out_channels]; null: none.
  const float* bias(const Call& c) const { return bias_ ? c.floats(bias_handle_) : nullptr; }
  /// Like the output; null: none.
  const float* residual(const Call& c) const { return residual_ ? c.in[*residual_].reals() : nullptr; }

  std::optional<size_t> bias_, residual_;
  WeightHandle bias_handle_;
  bool residual_first_;
  Activation activation_;
};

}  // namespace stormcell::cpu
