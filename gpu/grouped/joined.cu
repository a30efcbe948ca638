#include "gpu/grouped/joined.cuh"

#include "gpu/grouped/instances.h"
#include "gpu/grouped/tensor_launch.cuh"

namespace stormcell::gpu {

template <>
Status launch_joined<1>(const Device& device, const ProductArgs<Bf16>& args, int32_t experts, const char* sizes,
                        Stream stream) {
  return launch_tensor<JoinedShape<1>>(joined_kernel<1>, "grouped product, joined", device, args, experts, sizes,
                                       stream);
}

}  // namespace stormcell::gpu
