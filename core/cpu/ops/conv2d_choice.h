// Convolutions with kernels that read maps in place, for one branch or for all: weights are input `weight`.
#pragma once
#include "core/cpu/kernels/direct_conv2d.h"
#include "core/cpu/kernels/format_kernels.h"
#include "core/cpu/kernels/planar_conv2d.h"
#include "core/cpu/ops/conv2d_shape.h"

namespace stormcell::cpu {

inline bool takes_planar(const BuildContext& m, const Conv2dShape& shape, size_t weight) {
  const Activation activation = parse_activation(word_of(m.node(), "activation"));
  // Turning a map to planes and back costs as much as some taps, and a row shorter than a vector leaves lanes empty: it
  // pays where the direct kernel's panels have a quarter of their columns for nothing
  // (docs/decisions/029-convolutions.md).
  constexpr int64_t kFewChannels = 24, kManyInputs = 32, kLeastWidth = 16, kLeastTaps = 4;
  const ConvPanel last = conv_panel(shape.out_channels, conv_panel_count(shape.out_channels) - 1);
  const bool pays = shape.out_channels <= kFewChannels && 4 * shape.out_channels <= 3 * (last.first + last.width) &&
                    shape.in_channels <= kManyInputs && shape.out_width() >= kLeastWidth &&
                    shape.kernel_height * shape.kernel_width >= kLeastTaps;
  const bool fits = is_planar(shape) && (activation == Activation::none || activation == Activation::relu);
  return (pays || m.asked_kernel()) && fits && panel_format(m.type(weight).dtype) == DType::f32;
}

inline bool takes_direct(const BuildContext& m, const Conv2dShape& shape, size_t weight) {
  // Weights in bf16 have products of their own. With long fields times whole panels the weights come from beyond L2,
  // and the dense product fetches them ahead: 304 to 304 channels of 3 x 3 at 7 x 7 take it 543 us, this kernel 679
  // (docs/decisions/029-convolutions.md). kMostDepth of core/passes/separable_convolutions.cpp goes by it.
  constexpr int64_t kLongField = 2048;
  const bool streams = shape.out_channels >= kPanelColumns && shape.group_k() > kLongField;
  return is_direct(shape) && (!streams || m.asked_kernel()) && panel_format(m.type(weight).dtype) == DType::f32;
}

/// The format in which conv2d.panels multiplies.
inline DType panels_dtype(const BuildContext& m, const Conv2dShape& shape, size_t weight) {
  return shape.depthwise() ? DType::f32 : panel_format(m.type(weight).dtype);
}

}  // namespace stormcell::cpu
