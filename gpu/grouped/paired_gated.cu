#include "gpu/grouped/paired.cuh"

#include "gpu/grouped/instances.h"
#include "gpu/grouped/tensor_launch.cuh"

namespace stormcell::gpu {

template <>
Status launch_paired<2>(const Device& device, const ProductArgs<Bf16>& args, int32_t experts, const char* sizes, Stream stream) {
  return launch_tensor<PairedShape<2>>(paired_kernel<2>, "grouped product, paired", device, args, experts, sizes, stream);
}

}  // namespace stormcell::gpu
