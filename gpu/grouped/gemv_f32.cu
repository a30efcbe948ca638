#include "gpu/grouped/gemv.h"
#include "gpu/grouped/instances.h"
#include "gpu/launch/launch.cuh"

namespace stormcell::gpu {

template <>
Status launch_gemv<float, 1>(const Device& device, const ProductArgs<float>& args, const char* sizes, Stream stream) {
  return launch<GemvKernel<float, 1>>("grouped product, gemv", sizes,
                                      device.multiprocessors * int64_t{GemvKernel<float, 1>::kBlocks}, args, stream);
}

}  // namespace stormcell::gpu
