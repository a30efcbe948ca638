// Launches of the kernels in the list: one __global__ function each, made from the code that the tests run on the host.
#pragma once
#include "gpu/device/card_kernels.h"
#include "gpu/launch/launch.cuh"
#include "gpu/module/kernel_launch.h"

namespace stormcell::card {

template <int32_t kPart>
KernelLaunch find_launch(int32_t place) {
  KernelLaunch launch;
  const auto take = [&]<class Kernel>() {
    // Limits of a launch on every card that there is machine code for.
    static_assert(sizeof(typename Kernel::Args) <= 4096 && gpu::shared_bytes_of<Kernel>() <= 227 << 10);
    launch = {reinterpret_cast<const void*>(&gpu::run_kernel<Kernel>), Kernel::kThreads,
              gpu::shared_bytes_of<Kernel>()};
  };
  const auto take_of_part = [&]<class Kernel>() {
    if constexpr (gpu::PlanKernels::place<Kernel>() % kLaunchParts == kPart) take.template operator()<Kernel>();
  };
  const auto take_own = [&]<class Kernel>() {
    if constexpr (kPlaceOf<Kernel> % kLaunchParts == kPart) take.template operator()<Kernel>();
  };
  if (place < kPlanKernels)
    gpu::PlanKernels::with(place, take_of_part);
  else
    OwnKernels::with(place - kPlanKernels, take_own);
  return launch;
}

}  // namespace stormcell::card
