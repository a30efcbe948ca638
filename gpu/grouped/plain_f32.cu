#include "gpu/grouped/instances.h"
#include "gpu/grouped/plain.h"
#include "gpu/launch/launch.cuh"

namespace stormcell::gpu {

template <>
Status launch_plain<float, 1>(const Device& device, const ProductArgs<float>& args, const char* sizes, Stream stream) {
  return launch<PlainKernel<float, 1>>("grouped product, plain", sizes, device.multiprocessors * int64_t{4}, args,
                                       stream);
}

}  // namespace stormcell::gpu
