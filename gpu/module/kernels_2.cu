#include "gpu/module/kernel_launch.cuh"

namespace stormcell::card {

template <>
KernelLaunch launch_in_part<2>(int32_t place) {
  return find_launch<2>(place);
}

}  // namespace stormcell::card
