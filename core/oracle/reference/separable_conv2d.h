// separable_conv2d: a convolution of each channel by itself, then one of 1 x 1, channels last.
#pragma once
#include "core/oracle/reference/conv2d.h"

namespace stormcell::reference {

template <class Scalar>
void separable_conv2d(const Call<Scalar>& c) {
  const ConvolvedMaps depthwise(c, 1, c.type(0).content[2].constant());
  ConvolvedMaps pointwise = depthwise;
  pointwise.height = depthwise.out_height(), pointwise.width = depthwise.out_width();
  pointwise.outputs = c.type(2).content[0].constant(), pointwise.depth = depthwise.channels;
  pointwise.kernel_h = pointwise.kernel_w = pointwise.stride = pointwise.groups = 1, pointwise.padding = 0;
  std::vector<Scalar> bias;
  if (const auto i = extra_input(c.node, "bias")) bias = c.whole(*i);
  std::vector<Scalar> between(c.rows(0) * pointwise.height * pointwise.width * pointwise.channels);
  convolve_maps(c, depthwise, c.in(0).reals.data(), c.rows(0), 1, {}, between.data());
  convolve_maps(c, pointwise, between.data(), c.rows(0), 2, bias, c.out().reals.data());
  finish_maps(c);
}

}  // namespace stormcell::reference
