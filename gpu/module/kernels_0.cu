#include "gpu/module/kernel_launch.cuh"

namespace stormcell::card {

template <>
KernelLaunch launch_in_part<0>(int32_t place) {
  return find_launch<0>(place);
}

}  // namespace stormcell::card
