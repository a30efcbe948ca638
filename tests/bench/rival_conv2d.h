// oneDNN's convolutions with prepacked weights, as rivals for kernels_bench.
#pragma once
#include <memory>

#include "core/cpu/kernels/conv2d.h"

namespace stormcell::bench {

enum class RivalAlgorithm { direct, winograd };

/// One convolution on one thread. Maps lie as oneDNN likes them best, and turning them from and to channels last is not
/// counted.
class RivalConv2d {
 public:
  virtual ~RivalConv2d() = default;
  virtual void run() = 0;
};

/// Null where oneDNN is not built in or has no such algorithm for this shape on this processor.
std::unique_ptr<RivalConv2d> make_rival_conv2d(const cpu::Conv2dShape& shape, RivalAlgorithm algorithm);

}  // namespace stormcell::bench
