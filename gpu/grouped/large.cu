#include "gpu/grouped/instances.h"
#include "gpu/grouped/large.cuh"
#include "gpu/grouped/tensor_launch.cuh"

namespace stormcell::gpu {

template <>
Status launch_large<1>(const Device& device, const ProductArgs<Bf16>& args, int32_t experts, const char* sizes, Stream stream) {
  return launch_tensor<LargeShape<1>>(large_kernel<1>, "grouped product, large", device, args, experts, sizes, stream);
}

}  // namespace stormcell::gpu
