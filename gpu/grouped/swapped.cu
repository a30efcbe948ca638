#include "gpu/grouped/instances.h"
#include "gpu/grouped/swapped.cuh"
#include "gpu/grouped/tensor_launch.cuh"

namespace stormcell::gpu {

template <>
Status launch_swapped<1>(const Device& device, const ProductArgs<Bf16>& args, int32_t experts, const char* sizes,
                         Stream stream) {
  return launch_tensor<SwappedShape<1>>(swapped_kernel<1>, "grouped product, swapped", device, args, experts, sizes,
                                        stream);
}

}  // namespace stormcell::gpu
