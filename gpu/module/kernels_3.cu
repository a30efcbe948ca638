#include "gpu/module/kernel_launch.cuh"

namespace stormcell::card {

template <>
KernelLaunch launch_in_part<3>(int32_t place) {
  return find_launch<3>(place);
}

}  // namespace stormcell::card
