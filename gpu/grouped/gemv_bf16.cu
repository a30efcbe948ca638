#include "gpu/grouped/gemv.h"
#include "gpu/grouped/instances.h"
#include "gpu/launch/launch.cuh"

namespace stormcell::gpu {

template <>
Status launch_gemv<Bf16, 1>(const Device& device, const ProductArgs<Bf16>& args, const char* sizes, Stream stream) {
  return launch<GemvKernel<Bf16, 1>>("grouped product, gemv", sizes,
                                     device.multiprocessors * int64_t{GemvKernel<Bf16, 1>::kBlocks}, args, stream);
}

}  // namespace stormcell::gpu
