#pragma once
#include "gpu/grouped/hopper_execution.cuh"
#include "gpu/grouped/swapped.h"

namespace stormcell::gpu {

template <int kPanels>
__global__ void __launch_bounds__(SwappedShape<kPanels>::kThreads, 1)
    swapped_kernel(const __grid_constant__ CUtensorMap map, const __grid_constant__ ProductArgs<Bf16> a) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  HopperExecution x;
  swapped_block<kPanels>(x, &map, a);
#else
  __trap();  // built without this card's instructions: a fault, not a result that was never written
#endif
}

}  // namespace stormcell::gpu
