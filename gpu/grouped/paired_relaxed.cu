#include "gpu/grouped/paired_relaxed.cuh"

#include "gpu/grouped/instances.h"
#include "gpu/grouped/tensor_launch.cuh"

namespace stormcell::gpu {

template <>
Status launch_paired_relaxed<1>(const Device& device, const ProductArgs<Bf16>& args, int32_t experts, const char* sizes, Stream stream) {
  return launch_tensor<PairedRelaxedShape<1>>(paired_relaxed_kernel<1>, "grouped product, paired, relaxed", device, args, experts, sizes,
                                              stream);
}

}  // namespace stormcell::gpu
