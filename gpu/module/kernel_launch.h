// The launch of a kernel in the list.
#pragma once
#include <cstdint>

namespace stormcell::card {

struct KernelLaunch {
  const void* function = nullptr;  ///< address on the host that identifies the kernel
  int threads = 0, shared_bytes = 0;
};

/// The list is cut into parts that compile side by side: a kernel is in part (place % kLaunchParts).
inline constexpr int32_t kLaunchParts = 4;
template <int32_t kPart>
KernelLaunch launch_in_part(int32_t place);

// Each instance has a source of its own (kernels_NUMBER.cu).
template <>
KernelLaunch launch_in_part<0>(int32_t place);
template <>
KernelLaunch launch_in_part<1>(int32_t place);
template <>
KernelLaunch launch_in_part<2>(int32_t place);
template <>
KernelLaunch launch_in_part<3>(int32_t place);

/// The launch of the kernel at a place of the list.
inline KernelLaunch launch_of(int32_t place) {
  switch (place % kLaunchParts) {
    case 0:
      return launch_in_part<0>(place);
    case 1:
      return launch_in_part<1>(place);
    case 2:
      return launch_in_part<2>(place);
    default:
      return launch_in_part<3>(place);
  }
}

}  // namespace stormcell::card
