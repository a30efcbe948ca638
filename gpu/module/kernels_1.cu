#include "gpu/module/kernel_launch.cuh"

namespace stormcell::card {

template <>
KernelLaunch launch_in_part<1>(int32_t place) {
  return find_launch<1>(place);
}

}  // namespace stormcell::card
