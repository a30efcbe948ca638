#include "gpu/grouped/swapped_noinc.cuh"

#include "gpu/grouped/instances.h"
#include "gpu/grouped/tensor_launch.cuh"

namespace stormcell::gpu {

template <>
Status launch_swapped_noinc<2>(const Device& device, const ProductArgs<Bf16>& args, int32_t experts, const char* sizes, Stream stream) {
  return launch_tensor<NoincShape<2>>(swapped_noinc_kernel<2>, "grouped product, swapped, noinc", device, args, experts, sizes, stream);
}

}  // namespace stormcell::gpu
