// Peak figures of a device, as a probe measured them: the ceilings that every share of the limit refers to.
#pragma once
#include <string>

#include "core/base/number_format.h"

namespace stormcell {

struct DeviceProbe {
  double f32_gflops = 0;
  double bf16_gflops = 0;  ///< with products that have bf16 weights; equal to f32 if the device has no faster ones
  double read_gbs = 0;     ///< from the memory that weights lie in
  std::string kernels;     ///< the kernels that it uses: an instruction set ("avx512_bf16"), an architecture
  std::string placement;   ///< how its parts lie to each other: "two cores, one L3". Runs of different placements are
                           ///< not comparable
  /// The most that products with weights in this format reach.
  double peak_gflops(DType weights) const { return format_of(weights).own_products ? bf16_gflops : f32_gflops; }
};

}  // namespace stormcell
